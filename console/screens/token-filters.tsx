import { useState } from "preact/hooks";

import type { Shape } from "../../client/client.ts";
import { Button } from "../parts/button.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { Field } from "../parts/field.tsx";
import { SearchForm } from "../parts/search-form.tsx";
import { href } from "../shell/href.ts";

/** Which tokens of a collection are shown, by the address of the screen. */
export interface TokenFilter {
  /** An address, or a user of the app. */
  owner?: string;
  trait_type?: string;
  trait_value?: string;
  /** How the name begins. */
  search?: string;
}

/** Longest texts of a trait that can be found, in characters. */
export const MAX_TRAIT = 256;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** The filters of the call that lists the tokens. */
export function filterQuery({ owner, trait_type, trait_value, search }: TokenFilter) {
  if (search !== undefined) return { search };
  if (owner !== undefined) return ADDRESS.test(owner) ? { owner } : { user: owner };
  return trait_type === undefined || trait_value === undefined ? {} : { trait_type, trait_value };
}

function isFiltered(filter: TokenFilter): boolean {
  return Object.keys(filterQuery(filter)).length > 0;
}

/** Longest beginning of a name that can be searched for, in characters. */
const MAX_NAME = 64;

/** Forms that lead to some of the tokens. Only hosted tokens have names and traits here. */
export function TokenFilters({ collection, filter }: { collection: Shape<"Collection">; filter: TokenFilter }) {
  const { address, hosting } = collection;
  return (
    <>
      {isFiltered(filter) && (
        <p>
          Only tokens {wordsOf(filter)}. <a href={href("/collections/:address", { address })}>Show all</a>
        </p>
      )}
      <details>
        <summary>Find tokens</summary>
        <div class="stack">
          {hosting === "hosted" && (
            <SearchForm
              label="Name"
              hint="How it begins."
              maxLength={MAX_NAME}
              onSearch={(text) => {
                const search = text.trim();
                if (search !== "") location.hash = nameLink(address, search);
              }}
            />
          )}
          <SearchForm
            label="Owner"
            hint="A user of the app, or an address."
            onSearch={(text) => {
              const owner = text.trim();
              if (owner !== "") location.hash = ownerLink(address, owner);
            }}
          />
          {hosting === "hosted" && <TraitForm address={address} />}
        </div>
      </details>
    </>
  );
}

function TraitForm({ address }: { address: string }) {
  const [type, setType] = useState("");
  const [value, setValue] = useState("");
  const field = (label: string, hint: string, text: string, set: (text: string) => void) => (
    <Field label={label} hint={hint}>
      {(control) => (
        <input
          {...control}
          type="search"
          autocomplete="off"
          required
          maxLength={MAX_TRAIT}
          value={text}
          onInput={(event) => set(event.currentTarget.value)}
        />
      )}
    </Field>
  );
  return (
    <form
      class="search"
      onSubmit={(event) => {
        event.preventDefault();
        location.hash = traitLink(address, type, value);
      }}
    >
      {field("Trait", "Such as fur.", type, setType)}
      {field("Value", "Such as red. Capital letters count.", value, setValue)}
      <Button type="submit">Find</Button>
    </form>
  );
}

function nameLink(address: string, search: string): string {
  return href("/collections/:address/named/:search", { address, search: encodeURIComponent(search) });
}

function ownerLink(address: string, owner: string): string {
  return href("/collections/:address/of/:owner", { address, owner: encodeURIComponent(owner) });
}

/** The filter in the address of a screen. Any text may be in it, so it is encoded once more than the router decodes. */
export function readFilter(params: Record<string, string>): TokenFilter {
  return Object.fromEntries(Object.entries(params).map(([name, text]) => [name, decoded(text)]));
}

/** Somebody may have written the address by hand. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The address of the tokens with a trait. */
export function traitLink(address: string, type: string, value: string): string {
  const parts = { address, trait_type: encodeURIComponent(type), trait_value: encodeURIComponent(value) };
  return href("/collections/:address/with/:trait_type/:trait_value", parts);
}

export function NoneFound({ filter }: { filter: TokenFilter }) {
  return <EmptyState title="No such tokens">This collection has no tokens {wordsOf(filter)}.</EmptyState>;
}

function wordsOf({ owner, trait_type: type, trait_value: value, search }: TokenFilter) {
  if (search !== undefined) {
    return (
      <>
        with a name that begins with <bdi>{search}</bdi>
      </>
    );
  }
  return owner !== undefined ? (
    <>
      of <bdi>{owner}</bdi>
    </>
  ) : (
    <>
      with <bdi>{type}</bdi>: <bdi>{value}</bdi>
    </>
  );
}
