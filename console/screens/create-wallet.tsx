import { useState } from "preact/hooks";

import { answerOf } from "../../client/client.ts";
import { ApiRefusal } from "../../client/errors.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Field } from "../parts/field.tsx";
import { toast } from "../parts/toasts.tsx";
import { client } from "../service/client.ts";
import { href } from "../shell/href.ts";

/** Creates a wallet and opens it. */
export function CreateWallet({ onClose }: { onClose: () => void }) {
  const [user, setUser] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);

  async function create(): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      const body = user === "" ? {} : { user_identifier: user };
      const { address } = await answerOf(client().POST("/v1/accounts", { body }));
      toast("The wallet is created.");
      onClose();
      location.hash = href("/wallets/:address", { address });
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  }

  const fieldError =
    error instanceof ApiRefusal ? error.fieldErrors.find(({ field }) => field === "user_identifier") : undefined;
  return (
    <Dialog title="Create a wallet" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <Field
          label="User identifier"
          hint="Your own name for the user who gets the wallet. You can leave it empty."
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
            Create
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
