import { useState } from "preact/hooks";

import { answerOf, type Shape } from "../../client/client.ts";
import { ApiRefusal } from "../../client/errors.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Field } from "../parts/field.tsx";
import { toast } from "../parts/toasts.tsx";
import { client } from "../service/client.ts";
import { href } from "../shell/href.ts";

interface Props {
  onClose: () => void;
  /** The wallet whose user is renamed. Absent: a new one is created. */
  wallet?: Shape<"Wallet">;
}

/** Creates a wallet and opens it, or renames its user. */
export function CreateWallet({ onClose, wallet }: Props) {
  const [user, setUser] = useState(wallet?.user_identifier ?? "");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);

  async function save(): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      await (wallet === undefined ? create(user) : rename(wallet, user));
      onClose();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  }

  const fieldError =
    error instanceof ApiRefusal ? error.fieldErrors.find(({ field }) => field === "user_identifier") : undefined;
  return (
    <Dialog title={wallet === undefined ? "Create a wallet" : "Rename the user"} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Field
          label="User identifier"
          hint="Your own name for the user who has the wallet. Empty: the wallet has no user."
          error={fieldError?.message}
        >
          {(control) => (
            <input
              {...control}
              autocomplete="off"
              value={user}
              onInput={(event) => {
                setUser(event.currentTarget.value);
              }}
            />
          )}
        </Field>
        {error !== null && fieldError === undefined && <ErrorNote error={error} />}
        <div class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={busy}>
            {wallet === undefined ? "Create" : "Rename"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

async function create(user: string): Promise<void> {
  const body = user === "" ? {} : { user_identifier: user };
  const { address } = await answerOf(client().POST("/v1/accounts", { body }));
  toast("The wallet is created.");
  location.hash = href("/wallets/:address", { address });
}

/** Loads the page again, because many parts of it remember the old name. */
async function rename({ address }: Shape<"Wallet">, user: string): Promise<void> {
  const params = { path: { address } };
  await answerOf(client().PATCH("/v1/accounts/{address}", { params, body: { user_identifier: user } }));
  location.reload();
}
