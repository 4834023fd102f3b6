import { useState } from "preact/hooks";

import { Button } from "../parts/button.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { decide, type Session } from "../service/session.ts";

interface Props {
  /** What the browser has now. */
  session: Session;
  /** Of the link that was opened. */
  code: string;
}

/**
 * Asks before a link ends the session of this browser. Otherwise somebody could send a link to a session of their own, and
 * get what the person then enters.
 */
export function OtherSession({ session, code }: Props) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const answer = (chosen: string | null) => {
    setBusy(true);
    decide(session, chosen).catch((problem: unknown) => {
      setError(problem);
      setBusy(false);
    });
  };
  return (
    <main class="signed-out">
      <div class="card stack">
        <h1>Open another session?</h1>
        <p>
          You are signed in{" "}
          {session.app === null ? (
            "as the operator"
          ) : (
            <>
              for the app <bdi>{session.app.name}</bdi>
            </>
          )}
          . This link opens another session, possibly of another app, and ends yours. Use it only if you or your
          operator made it.
        </p>
        {error !== null && <ErrorNote error={error} />}
        <div class="actions">
          <Button
            kind="primary"
            busy={busy}
            onClick={() => {
              answer(null);
            }}
          >
            Keep my session
          </Button>
          <Button
            busy={busy}
            onClick={() => {
              answer(code);
            }}
          >
            Use the link
          </Button>
        </div>
      </div>
    </main>
  );
}
