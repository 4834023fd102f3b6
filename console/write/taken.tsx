import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

import type { Shape } from "../../client/client.ts";
import { StateBadge } from "../parts/badge.tsx";
import { CopyAs } from "../parts/copy-as.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Loading } from "../parts/loading.tsx";
import { Prose } from "../parts/prose.tsx";
import type { RecordedCall } from "../service/recorded-calls.ts";
import { href } from "../shell/href.ts";
import { useRequest } from "./follow-request.ts";
import { stateSentence } from "../screens/request-state.ts";

interface TakenProps {
  title: string;
  /** A request that is null: the call is done, and nothing happens on the chain. */
  answer: { request_id: string | null; warnings?: Shape<"Warnings"> };
  call: RecordedCall | null;
  /** What to do next, when the request has completed. */
  next?: (request: Shape<"Request">) => ComponentChildren;
  /** Shown at any time. */
  children?: ComponentChildren;
}

/** A call that the service has taken: its request, live until it is final. */
export function Taken({ title, answer, call, next, children }: TakenProps) {
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
      <Warnings of={answer.warnings} />
      {answer.request_id !== null && <LiveRequest requestId={answer.request_id} next={next} />}
      <div class="actions">{children}</div>
      <CopyAs call={call} />
    </section>
  );
}

interface WarningsProps<W> {
  of: readonly W[] | undefined;
  /** Where a warning belongs to. */
  place?: (warning: W) => string;
}

/** What an accepted call probably does not do as it was meant. */
export function Warnings<W extends Shape<"Warnings">[number]>({ of = [], place }: WarningsProps<W>) {
  if (of.length === 0) return null;
  return (
    <div class="note note-warning" role="status">
      {of.map((warning) => (
        <p key={`${warning.field} ${warning.message}`}>
          <code>{warning.field}</code>: <Prose text={warning.message} /> {place?.(warning)}
        </p>
      ))}
    </div>
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
        <StateBadge status={request.status} />{" "}
        {request.status === "completed" ? "Done. It is on the chain." : stateSentence(request)}
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
