import { useState } from "preact/hooks";

import { answerOf } from "../../client/client.ts";
import { Button } from "../parts/button.tsx";
import { sayProblem } from "../parts/toasts.tsx";
import { client } from "../service/client.ts";
import { mayUse } from "../service/session.ts";
import { href } from "../shell/href.ts";
import type { Request } from "./request-state.ts";

/** The scope of the calls that create requests of a type, where it has another name. */
const SCOPES: Partial<Record<Request["type"], string>> = { mint: "mint", transfer: "transfer", burn: "transfer" };

/** For a request that failed: sends it again, once, and opens the new one. Nothing else. */
export function SendAgain({ request }: { request: Request }) {
  const [busy, setBusy] = useState(false);
  const { request_id, status, type, retried_by: again } = request;
  const open = (id: string) => href("/requests/:request_id", { request_id: id });
  if (again !== null) return <a href={open(again)}>Sent again</a>;
  if (status !== "failed" || !mayUse(SCOPES[type] ?? "collections")) return null;
  return (
    <Button
      kind="small"
      busy={busy}
      onClick={() => {
        setBusy(true);
        const params = { path: { request_id } };
        answerOf(client().POST("/v1/requests/{request_id}/retry", { params })).then(
          (made) => {
            location.hash = open(made.request_id);
          },
          (error: unknown) => {
            setBusy(false);
            sayProblem(error);
          },
        );
      }}
    >
      Send again
    </Button>
  );
}
