import { Copyable } from "../parts/copyable.tsx";
import { Icon } from "../parts/icon.tsx";
import { Toasts } from "../parts/toasts.tsx";
import { LOCAL_CLI } from "../service/session.ts";

/** The page for a browser without a session. @property problem why a link or a session did not work */
export function SignedOut({ problem }: { problem: string | null }) {
  return (
    <main class="signed-out">
      <div class="card stack">
        <h1 class="brand">
          <Icon name="mark" />
          Moneta
        </h1>
        {problem === null ? (
          <p>You are not signed in. A link signs you in.</p>
        ) : (
          <p class="note note-error" role="alert">
            {problem}
          </p>
        )}
        {LOCAL_CLI === "" ? (
          <p>Ask the operator of this service for a link. It works once, within ten minutes.</p>
        ) : (
          <>
            <p>Run this in the folder of Moneta and open the link that it prints:</p>
            <Copyable text={`${LOCAL_CLI} console`} what="the command" />
            <p class="muted">
              The link works once, within ten minutes. It opens the operator's console for all apps. For one app, add{" "}
              <code>--app NAME</code>.
            </p>
          </>
        )}
      </div>
      <Toasts />
    </main>
  );
}
