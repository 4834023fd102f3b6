import { ApiRefusal } from "../../client/errors.ts";
import { SERVICE_URL } from "../service/session.ts";
import { Button } from "./button.tsx";
import { messageOf, otherFieldsOf } from "./sentence.ts";

interface Props {
  error: unknown;
  /** Offers a button to try again. */
  retry?: () => void;
}

/** An error as a sentence, with what to do next. */
export function ErrorNote({ error, retry }: Props) {
  const code = error instanceof ApiRefusal ? error.errorCode : null;
  const fields = otherFieldsOf(error);
  return (
    <div class="note note-error" role="alert">
      <p>{messageOf(error)}</p>
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
