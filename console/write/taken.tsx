import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

import type { Shape } from "../../client/client.ts";
import { StateBadge } from "../parts/badge.tsx";
import { CopyAs } from "../parts/copy-as.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Loading } from "../parts/loading.tsx";
import type { RecordedCall } from "../service/recorded-calls.ts";
import { href } from "../shell/href.ts";
import { useRequest } from "./follow-request.ts";
import { stateSentence } from "./request-words.ts";

interface TakenProps {
  title: string;
  /** null: the call is done, and nothing happens on the chain. */
  requestId: string | null;
  call: RecordedCall | null;
  /** What to do next, when the request has completed. */
  next?: (request: Shape<"Request">) => ComponentChildren;
  /** Shown at any time. */
  children?: ComponentChildren;
}

/** A call that the service has taken: its request, live until it is final. */
export function Taken({ title, requestId, call, next, children }: TakenProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  // The form, which had the focus, is gone.
  useEffect(() => {
    heading.current?.focus();
  }, []);
  return (
    <section class="card stack taken">
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      {requestId !== null && <LiveRequest requestId={requestId} next={next} />}
      <div class="actions">{children}</div>
      <CopyAs call={call} />
    </section>
  );
}

interface LiveProps {
  requestId: string;
  next: TakenProps["next"];
}

function LiveRequest({ requestId, next }: LiveProps) {
  const { data: request, error } = useRequest(requestId);
  if (request === null) return error === null ? <Loading /> : <ErrorNote error={error} />;
  return (
    <>
      <p role="status" class="taken-state">
        <StateBadge status={request.status} /> {stateSentence(request)}
      </p>
      <div class="actions">
        {request.status === "completed" && next?.(request)}
        <a class="button" href={href("/requests/:request_id", { request_id: requestId })}>
          Show the request
        </a>
      </div>
    </>
  );
}
