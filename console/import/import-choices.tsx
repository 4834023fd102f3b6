import { useId, useState } from "preact/hooks";

import type { Shape } from "../../client/client.ts";
import { columnsOf } from "../forms/csv/table.ts";
import type { Field as FormField } from "../forms/model/fields.ts";
import { RECEIVER_HELP } from "../write/receivers.ts";
import { WalletList } from "../write/wallet-list.tsx";
import { Button } from "../parts/button.tsx";
import { downloadCsv } from "../parts/download.ts";
import { Field } from "../parts/field.tsx";
import { mayUse } from "../service/session.ts";

/** What a person has chosen. */
export interface Choices {
  /** The text of the CSV file; null: none is chosen. */
  table: { name: string; text: string } | null;
  pictures: readonly File[];
  to: string;
  supply: string;
  copyMedia: boolean;
  /** Whether users of the table may be new. */
  newUsers: boolean;
  /** Whether rows that an earlier import has sent are sent again. */
  again: boolean;
}

const MIB = 2 ** 20;
/** Largest file. It is checked as a whole, in memory. */
const MOST_BYTES = 5 * MIB;

export function useChoices(): [Choices, (change: Partial<Choices>) => void] {
  const [choices, setChoices] = useState<Choices>({
    table: null,
    pictures: [],
    to: "",
    supply: "1",
    copyMedia: false,
    newUsers: false,
    again: false,
  });
  return [choices, (change) => setChoices((now) => ({ ...now, ...change }))];
}

interface ChoicesProps {
  collection: Shape<"Collection">;
  fields: readonly FormField[];
  choices: Choices;
  onChange: (change: Partial<Choices>) => void;
}

/** The file, and what holds for all its rows. */
export function ImportChoices({ collection, fields, choices, onChange }: ChoicesProps) {
  const has = (name: string) => fields.some((field) => field.name === name);
  const columns = [...columnsOf(fields), ...(has("attributes") ? ["attributes.NAME"] : [])];
  const [error, setError] = useState<string | null>(null);
  const readTable = async (file: File | undefined) => {
    const tooLarge = file !== undefined && file.size > MOST_BYTES;
    setError(tooLarge ? `The file has more than ${(MOST_BYTES / MIB).toString()} MiB. Split it into several.` : null);
    const table = file === undefined || tooLarge ? null : { name: file.name, text: await file.text() };
    onChange({ table, again: false });
  };
  return (
    <section class="card stack" aria-label="File">
      <p class="muted">
        The first line has the names of the columns, each further line is one token of <bdi>{collection.name}</bdi>.
        Columns:{" "}
        {columns.map((column) => (
          <code key={column}>{column} </code>
        ))}
      </p>
      <div class="actions">
        <Button onClick={() => downloadCsv("tokens.csv", `${columns.join(",")}\n`)}>Download a template</Button>
      </div>
      <Field label="CSV file" hint="Comma-separated, in UTF-8. Nothing is sent before you confirm." error={error}>
        {(control) => (
          <input
            {...control}
            type="file"
            accept=".csv,text/csv"
            onChange={({ currentTarget }) => void readTable(currentTarget.files?.[0])}
          />
        )}
      </Field>
      {has("image") && mayUse("media") && (
        <Field label="Pictures" hint="The files that the column “file” names. Choose them all at once.">
          {(control) => (
            <input
              {...control}
              type="file"
              multiple
              accept="image/*"
              onChange={({ currentTarget }) => onChange({ pictures: [...(currentTarget.files ?? [])] })}
            />
          )}
        </Field>
      )}
      <ForAllRows has={has} choices={choices} onChange={onChange} />
      {mayUse("accounts") && (
        <Check checked={choices.newUsers} onChange={(newUsers) => onChange({ newUsers })}>
          Create wallets for users in “user_identifier” who have none
        </Check>
      )}
      {has("copy_media") && (
        <Check checked={choices.copyMedia} onChange={(copyMedia) => onChange({ copyMedia })}>
          Copy the media at “image” and “animation_url” to IPFS
        </Check>
      )}
    </section>
  );
}

interface CheckProps {
  checked: boolean;
  onChange: (checked: boolean) => void;
  children: string;
}

export function Check({ checked, onChange, children }: CheckProps) {
  return (
    <label class="field-check">
      <input type="checkbox" checked={checked} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
      {children}
    </label>
  );
}

interface ForAllRowsProps extends Pick<ChoicesProps, "choices" | "onChange"> {
  has: (name: string) => boolean;
}

/** What rows take that do not say it themselves. */
function ForAllRows({ has, choices, onChange }: ForAllRowsProps) {
  const wallets = useId();
  return (
    <>
      <Field label="To" hint={`For rows that do not say who gets the token. ${RECEIVER_HELP}`}>
        {(control) => (
          <input
            {...control}
            type="text"
            autocomplete="off"
            spellcheck={false}
            list={wallets}
            value={choices.to}
            onChange={({ currentTarget }) => onChange({ to: currentTarget.value.trim() })}
          />
        )}
      </Field>
      <WalletList id={wallets} />
      {has("initial_supply") && (
        <Field label="Copies" hint="Of each token whose row does not say another number.">
          {(control) => (
            <input
              {...control}
              type="text"
              inputMode="numeric"
              value={choices.supply}
              onChange={({ currentTarget }) => onChange({ supply: currentTarget.value.trim() })}
            />
          )}
        </Field>
      )}
    </>
  );
}
