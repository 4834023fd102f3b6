import { useId, useState } from "preact/hooks";

import type { Shape } from "../../client/client.ts";
import { ATTRIBUTE } from "../../client/drop/table.ts";
import { TEXT_METADATA } from "../../client/drop/values.ts";
import { Button } from "../parts/button.tsx";
import { downloadCsv } from "../parts/download.ts";
import { Field } from "../parts/field.tsx";
import { mayUse } from "../service/session.ts";
import { RECEIVER_HELP } from "../write/receivers.ts";
import { WalletList } from "../write/wallet-list.tsx";
import { type Chosen, type Files, filesOfDrop, filesOfInput, NOTHING, readTexts } from "./files.ts";

/** What a person has chosen. */
export interface Choices {
  chosen: Chosen;
  to: string;
  supply: string;
  copyMedia: boolean;
  /** Whether users may be new. */
  newUsers: boolean;
  /** Whether tokens that an earlier import has sent are sent again. */
  again: boolean;
}

export function useChoices(): [Choices, (change: Partial<Choices>) => void] {
  const [choices, setChoices] = useState<Choices>({
    chosen: NOTHING,
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
  choices: Choices;
  onChange: (change: Partial<Choices>) => void;
}

/** The files, and what holds for all tokens. */
export function ImportChoices({ collection, choices, onChange }: ChoicesProps) {
  const isHosted = collection.hosting === "hosted";
  return (
    <section class="card stack" aria-label="What to mint">
      <FileChoice collection={collection} chosen={choices.chosen} onChange={onChange} />
      <ForAllTokens collection={collection} choices={choices} onChange={onChange} />
      {mayUse("accounts") && (
        <Check checked={choices.newUsers} onChange={(newUsers) => onChange({ newUsers })}>
          Create wallets for users who have none
        </Check>
      )}
      {isHosted && (
        <Check checked={choices.copyMedia} onChange={(copyMedia) => onChange({ copyMedia })}>
          Copy media that the metadata names by http, https or ipfs
        </Check>
      )}
    </section>
  );
}

/** The types of the page do not know this attribute. */
const FOLDER = { webkitdirectory: true };

type FileChoiceProps = Pick<ChoicesProps, "collection" | "onChange"> & Pick<Choices, "chosen">;

/** A folder, single files, or what is dropped here. */
function FileChoice({ collection, chosen, onChange }: FileChoiceProps) {
  const [error, setError] = useState<string | null>(null);
  const [over, setOver] = useState(false);
  const choose = async (found: Promise<Files>) => {
    try {
      const next = await readTexts(await found);
      setError(null);
      onChange({ chosen: next, again: false });
    } catch (problem) {
      setError(problem instanceof Error ? problem.message : String(problem));
    }
  };
  // A table and its pictures are often in two places, so single files come to the others.
  const add = (list: FileList | null) => choose(Promise.resolve(new Map([...chosen.files, ...filesOfInput(list)])));
  return (
    <div
      class={`drop-area stack${over ? " drop-over" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        if (event.dataTransfer !== null) void choose(filesOfDrop(event.dataTransfer));
      }}
    >
      <p class="muted">
        Choose what becomes tokens of <bdi>{collection.name}</bdi>, or drop it here: a folder of pictures, the output of
        HashLips, Sugar, thirdweb or OpenSea Studio, or a table. Nothing is sent before you confirm.
      </p>
      <Field label="Folder" hint="With JSON files or a table. Without them, each picture is a token.">
        {(control) => (
          <input
            {...control}
            type="file"
            {...FOLDER}
            onChange={({ currentTarget }) => void choose(Promise.resolve(filesOfInput(currentTarget.files)))}
          />
        )}
      </Field>
      <Field label="Files" hint="A table (CSV), JSON files, pictures. More files come to those." error={error}>
        {(control) => (
          <input {...control} type="file" multiple onChange={({ currentTarget }) => void add(currentTarget.files)} />
        )}
      </Field>
      <FileActions collection={collection} chosen={chosen} onChange={onChange} />
    </div>
  );
}

function FileActions({ collection, chosen, onChange }: FileChoiceProps) {
  const template = templateOf(collection);
  const files = chosen.files.size;
  return (
    <div class="actions">
      <Button onClick={() => downloadCsv("tokens.csv", `${template.join(",")}\n`)}>
        Download a template of a table
      </Button>
      {files > 0 && (
        <Button onClick={() => onChange({ chosen: NOTHING, again: false })}>
          {files === 1 ? "Remove the file" : `Remove all ${files.toLocaleString()} files`}
        </Button>
      )}
    </div>
  );
}

function templateOf({ type, hosting }: Shape<"Collection">): string[] {
  return [
    ...(hosting === "hosted" ? ["file"] : []),
    ...(type === "ERC1155" ? ["token_id", "supply"] : ["token_id"]),
    ...(type === "ERC1155" && hosting === "self-hosted" ? ["uri"] : []),
    ...["to_address", "user_identifier"],
    ...(hosting === "hosted" ? [...TEXT_METADATA.filter((name) => name !== "image_data"), "unlockable_content"] : []),
    "reference",
    ...(hosting === "hosted" ? [`${ATTRIBUTE}NAME`] : []),
  ];
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

/** What tokens take that do not say it themselves. */
function ForAllTokens({ collection, choices, onChange }: ChoicesProps) {
  const wallets = useId();
  return (
    <>
      <Field label="To" hint={`Who gets tokens without an owner of their own. ${RECEIVER_HELP}`}>
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
      {collection.type === "ERC1155" && (
        <Field label="Copies" hint="Of each token that does not say another number.">
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
