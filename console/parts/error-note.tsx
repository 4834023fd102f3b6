import { ApiRefusal, ConnectionFailed, otherFields } from "../../client/errors.ts";
import { SERVICE_URL } from "../service/session.ts";
import { Button } from "./button.tsx";

interface Props {
  error: unknown;
  /** Offers a button to try again. */
  retry?: () => void;
}

/** An error as a sentence, with what to do next. */
export function ErrorNote({ error, retry }: Props) {
  const code = error instanceof ApiRefusal ? error.errorCode : null;
  const fields = error instanceof ApiRefusal && error.body !== null ? otherFields(error.body) : [];
  return (
    <div class="note note-error" role="alert">
      <p>{sentenceOf(error)}</p>
      {fields.length > 0 && (
        <ul>
          {fields.map(({ field, message }) => (
            <li key={field}>
              <code>{field}</code>: {message}
            </li>
          ))}
        </ul>
      )}
      {error instanceof ApiRefusal && error.status >= 500 && error.callId !== null && (
        <p class="muted">
          Call <code>{error.callId}</code>
        </p>
      )}
      {code !== null && (
        <p>
          <a href={`${SERVICE_URL}docs/errors#${encodeURIComponent(code)}`}>About {code}</a>
        </p>
      )}
      {retry !== undefined && <Button onClick={retry}>Try again</Button>}
    </div>
  );
}

/** What happened, and what to do next. */
export function sentenceOf(error: unknown): string {
  if (error instanceof ApiRefusal)
    return error.body?.message ?? `The service answered with status ${String(error.status)}.`;
  if (error instanceof ConnectionFailed) return "The service does not answer. Check that it runs, then try again.";
  return error instanceof Error ? error.message : String(error);
}
