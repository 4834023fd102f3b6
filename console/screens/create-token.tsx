import { useId, useState } from "preact/hooks";

import { answerOf } from "../../client/client.ts";
import type { paths } from "../../client/document.ts";
import { ApiRefusal } from "../../client/errors.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Field } from "../parts/field.tsx";
import { client } from "../service/client.ts";
import { session } from "../service/session.ts";

type Body = paths["/v1/tokens"]["post"]["requestBody"]["content"]["application/json"];
export type Scope = Body["scopes"][number];

const DAYS = [
  ["30", "30 days"],
  ["90", "90 days"],
  ["365", "One year"],
  ["", "Never"],
] as const;

interface Props {
  onClose: () => void;
  /** @param text the token, which the service shows once */
  onCreated: (text: string) => void;
}

/** What each scope allows. */
const MEANINGS: Readonly<Record<Scope, string>> = {
  read: "Read everything that the app has.",
  accounts: "Create wallets.",
  collections: "Create collections, change and freeze their metadata.",
  mint: "Mint tokens into the app's collections.",
  transfer: "Move tokens out of the app's wallets.",
  webhooks: "Set up webhooks.",
  contracts: "Follow contracts of others.",
  media: "Upload pictures and other files.",
  users: "Rename users.",
};

/** Creates a token with some of the scopes of the session. */
export function CreateToken({ onClose, onCreated }: Props) {
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>([]);
  const [days, setDays] = useState<string>("90");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const reason = useId();

  async function create(): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      const expiry = days === "" ? {} : { expires_in_days: Number(days) };
      const body = { scopes: [...scopes], ...expiry, ...(name === "" ? {} : { name }) };
      const { token } = await answerOf(client().POST("/v1/tokens", { body }));
      onCreated(token);
      onClose();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  }

  const nameError = error instanceof ApiRefusal ? error.fieldErrors.find(({ field }) => field === "name") : undefined;
  return (
    <Dialog title="Create an API key" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <Field label="Name" hint="For your own reference, such as the program that uses it." error={nameError?.message}>
          {(control) => (
            <input
              {...control}
              autocomplete="off"
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
        <Scopes chosen={scopes} onChange={setScopes} />
        <Expiry days={days} onChange={setDays} />
        {error !== null && nameError === undefined && <ErrorNote error={error} />}
        <div class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={busy} disabled={scopes.length === 0} aria-describedby={reason}>
            Create
          </Button>
          <span class="muted" id={reason}>
            {scopes.length === 0 && "Choose at least one scope."}
          </span>
        </div>
      </form>
    </Dialog>
  );
}

interface ScopesProps {
  legend?: string;
  chosen: readonly Scope[];
  onChange: (chosen: Scope[]) => void;
}

/** The scopes of a new API key. */
export function Scopes({ legend = "Scopes", chosen, onChange }: ScopesProps) {
  // A session cannot give away more than it has.
  const offered = session().scopes;
  const meanings = useId();
  return (
    <fieldset class="options">
      <legend>{legend}</legend>
      {offered.map((scope) => (
        <div key={scope} class="option">
          <label>
            <input
              type="checkbox"
              aria-describedby={`${meanings}-${scope}`}
              checked={chosen.includes(scope)}
              onChange={(event) => {
                const { checked } = event.currentTarget;
                onChange(offered.filter((one) => (one === scope ? checked : chosen.includes(one))));
              }}
            />
            {scope}
          </label>
          <span class="muted" id={`${meanings}-${scope}`}>
            {MEANINGS[scope]}
          </span>
        </div>
      ))}
    </fieldset>
  );
}

function Expiry({ days, onChange }: { days: string; onChange: (days: string) => void }) {
  return (
    <Field label="Expires after">
      {(control) => (
        <select {...control} value={days} onChange={(event) => onChange(event.currentTarget.value)}>
          {DAYS.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
