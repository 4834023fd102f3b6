import { useState } from "preact/hooks";

import type { Shape } from "../../client/client.ts";
import { readCollection } from "../service/collections.ts";
import { NeedsScope } from "../write/needs-scope.tsx";
import { Taken } from "../write/taken.tsx";
import { useWrite } from "../write/use-write.ts";
import { WithLoaded } from "../write/with-loaded.tsx";
import { Button } from "../parts/button.tsx";
import { Field } from "../parts/field.tsx";
import { Screen } from "../parts/screen.tsx";
import { client } from "../service/client.ts";
import { useData } from "../service/use-data.ts";
import { href, type ScreenProps } from "../shell/href.ts";

/** Freezes the metadata of a hosted collection for ever. */
export function FreezeScreen({ params }: ScreenProps<"address">) {
  const { address } = params;
  const loaded = useData(() => readCollection(address), [address]);
  return (
    <Screen
      title="Freeze the metadata"
      trail={<a href={href("/collections/:address", { address })}>{loaded.data?.name ?? "Collection"}</a>}
    >
      <NeedsScope scope="collections" action="freeze metadata">
        <WithLoaded loaded={loaded}>{(collection) => <FreezeForm collection={collection} />}</WithLoaded>
      </NeedsScope>
    </Screen>
  );
}

function FreezeForm({ collection }: { collection: Shape<"Collection"> }) {
  const { address, name, hosting } = collection;
  const [typed, setTyped] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const path = { address };
  const write = useWrite(() => client().POST("/v1/collections/{address}/freeze", { params: { path }, body: {} }));
  const { state } = write;
  if (hosting !== "hosted") {
    return <p class="note">Your own server serves the metadata of this collection. There is nothing to freeze here.</p>;
  }
  if (state.is === "taken") {
    return (
      <Taken title="Your freeze of the metadata" answer={state.data} call={state.call}>
        <a class="button" href={href("/collections/:address", { address })}>
          Open the collection
        </a>
      </Taken>
    );
  }
  const submit = (event: Event) => {
    event.preventDefault();
    if (typed.trim() !== name.trim()) {
      setProblem(`This is not the name. Type “${name}” to confirm.`);
      document.getElementById("freeze-name")?.querySelector("input")?.focus();
      return;
    }
    setProblem(null);
    void write.send({});
  };
  return (
    <form class="card stack" noValidate onSubmit={submit}>
      <Warning />
      <NameField name={name} typed={typed} problem={problem} onType={setTyped} />
      {(state.is === "refused" || state.is === "unknown") && (
        <p class="note note-error" role="alert">
          {state.message}
          {state.is === "unknown" && " You can try again: a collection is frozen only once."}
        </p>
      )}
      <div class="actions">
        <Button type="submit" kind="danger" busy={state.is === "sending"}>
          Freeze for ever
        </Button>
        <a class="button" href={href("/collections/:address", { address })}>
          Cancel
        </a>
      </div>
    </form>
  );
}

function Warning() {
  return (
    <div class="note note-warning">
      <p>
        <strong>This can never be undone.</strong>
      </p>
      <ul class="bullets">
        <li>Nobody can change the metadata of the collection or of any token again, also not the service.</li>
        <li>No further token with hosted metadata can be minted.</li>
        <li>All metadata moves into one directory on IPFS, and the contract points there for ever.</li>
      </ul>
    </div>
  );
}

interface NameProps {
  name: string;
  typed: string;
  problem: string | null;
  onType: (text: string) => void;
}

function NameField({ name, typed, problem, onType }: NameProps) {
  return (
    <div id="freeze-name">
      <Field label={`Type the name of the collection to confirm: ${name}`} error={problem}>
        {(control) => (
          <input
            {...control}
            type="text"
            autocomplete="off"
            spellcheck={false}
            value={typed}
            onInput={({ currentTarget }) => {
              onType(currentTarget.value);
            }}
          />
        )}
      </Field>
    </div>
  );
}
