import { useId, useState } from "preact/hooks";

import { answerOf } from "../../client/client.ts";
import { ApiRefusal } from "../../client/errors.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Field } from "../parts/field.tsx";
import { client } from "../service/client.ts";
import { countApps } from "../service/apps.ts";
import { type App, session } from "../service/session.ts";
import { type Scope, Scopes } from "./create-token.tsx";

export interface NewApp extends App {
  /** The first API key, which the service shows once. */
  token: string;
}

interface Props {
  onClose: () => void;
  onCreated: (app: NewApp) => void;
}

/** Creates an app and its first API key. Only the operator's session may. */
export function CreateApp({ onClose, onCreated }: Props) {
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>(session().scopes.filter((scope) => scope !== "users"));
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const reason = useId();
  const missing = name.trim() === "" ? "Give the app a name." : scopes.length === 0 ? "Choose at least one scope." : "";

  async function create(): Promise<void> {
    setBusy(true);
    try {
      onCreated(await answerOf(client().POST("/v1/operator/apps", { body: { name, scopes: [...scopes] } })));
      onClose();
      await countApps();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  }

  const nameError = error instanceof ApiRefusal ? error.fieldErrors.find(({ field }) => field === "name") : undefined;
  return (
    <Dialog title="Create an app" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <Field
          label="Name"
          hint="An app has its own wallets, collections and API keys. Its name is unique."
          error={nameError?.message}
          required
        >
          {(control) => (
            <input
              {...control}
              autocomplete="off"
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
        <Scopes legend="Scopes of its first API key" chosen={scopes} onChange={setScopes} />
        {error !== null && nameError === undefined && <ErrorNote error={error} />}
        <div class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={busy} disabled={missing !== ""} aria-describedby={reason}>
            Create
          </Button>
          <span class="muted" id={reason}>
            {missing}
          </span>
        </div>
      </form>
    </Dialog>
  );
}
