import type { TokenMetadata } from "../../domain/command.ts";
import { MAX_SEARCH_LENGTH } from "../../domain/filters.ts";
import { isStorable } from "../../shared/storable.ts";

/** Of so many characters, each of which may be two units or a part of `{token_id}`, the first ones are left. */
const READ = 20 * MAX_SEARCH_LENGTH;

/**
 * How the name of a token begins, as its page shows it: by this it is found. It is stored with the metadata, by each statement
 * that stores these. Metadata of 0.2.0 may have anything as a name. null: there is nothing to search.
 */
export function searchName(metadata: TokenMetadata | null, tokenId: string): string | null {
  const name: unknown = metadata?.name;
  if (typeof name !== "string") return null;
  const shown = name.slice(0, READ).replaceAll("{token_id}", tokenId);
  const beginning = Array.from(shown.slice(0, 2 * MAX_SEARCH_LENGTH))
    .slice(0, MAX_SEARCH_LENGTH)
    .join("");
  return beginning !== "" && isStorable(beginning) ? beginning : null;
}
