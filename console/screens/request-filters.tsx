import { useState } from "preact/hooks";

import { answerOf } from "../../client/client.ts";
import { Button } from "../parts/button.tsx";
import { sentenceOf } from "../parts/sentence.ts";
import { Field } from "../parts/field.tsx";
import { client } from "../service/client.ts";
import { type Request, TYPE_NAMES } from "./request-state.ts";

/** Which requests the list shows, beside their state. Empty texts: any. */
export interface Wanted {
  reference: string;
  /** An address, or a user of the app. */
  wallet: string;
  /** An address, or the beginning of a name or a symbol. */
  collection: string;
  type: Request["type"] | "";
}

/** The filters of a call that lists requests. */
export interface Query {
  reference?: string;
  wallet?: string;
  user?: string;
  collection?: string;
  type?: Request["type"];
}

/** Longest reference, in characters. */
const MAX_REFERENCE = 256;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** Filters, which are used when the form is sent. */
export function RequestFilters({ first, onFind }: { first: Wanted; onFind: (query: Query) => void }) {
  const [wanted, setWanted] = useState(first);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  async function find(): Promise<void> {
    setBusy(true);
    setProblem(null);
    try {
      onFind(await queryOf(wanted));
    } catch (error) {
      setProblem(sentenceOf(error));
    } finally {
      setBusy(false);
    }
  }

  const text = (name: "reference" | "wallet" | "collection", label: string, hint: string, error?: string | null) => (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <input
          {...control}
          type="search"
          autocomplete="off"
          spellcheck={false}
          maxLength={MAX_REFERENCE}
          value={wanted[name]}
          onInput={(event) => setWanted({ ...wanted, [name]: event.currentTarget.value })}
        />
      )}
    </Field>
  );
  return (
    <form
      class="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        void find();
      }}
    >
      {text("reference", "Find by reference", "Your own text for a request.")}
      {text("wallet", "User or address", "Who gets or gives a token.")}
      {text("collection", "Collection", "Its name, symbol or address.", problem)}
      <TypeField type={wanted.type} onChange={(type) => setWanted({ ...wanted, type })} />
      <Button type="submit" busy={busy}>
        Find
      </Button>
    </form>
  );
}

function TypeField({ type, onChange }: { type: Wanted["type"]; onChange: (type: Wanted["type"]) => void }) {
  return (
    <Field label="Type" hint="What the request does.">
      {(control) => (
        <select {...control} value={type} onChange={(event) => onChange(event.currentTarget.value as Wanted["type"])}>
          <option value="">All</option>
          {Object.entries(TYPE_NAMES).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** @throws Error when no collection begins with the text */
export async function queryOf({ reference, wallet, collection, type }: Wanted): Promise<Query> {
  const who = wallet.trim();
  const where = collection.trim();
  return {
    ...(reference === "" ? {} : { reference }),
    ...(who === "" ? {} : ADDRESS.test(who) ? { wallet: who } : { user: who }),
    ...(where === "" ? {} : { collection: ADDRESS.test(where) ? where : await addressOf(where) }),
    ...(type === "" ? {} : { type }),
  };
}

async function addressOf(search: string): Promise<string> {
  const params = { query: { search, limit: 1 } };
  const { collections } = await answerOf(client().GET("/v1/collections", { params }));
  const [found] = collections;
  if (found === undefined) throw new Error(`No collection has a name or symbol that begins with “${search}”.`);
  return found.address;
}
