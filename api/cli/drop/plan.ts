import { createHash } from "node:crypto";

import type { Shape } from "../../../client/client.ts";
import type { FolderContents, FolderToken, MediaFile, Problem } from "./folder.ts";

interface Target {
  collection: Shape<"Collection">;
  /** `wallet 0x...` or `user alice`: who gets the tokens without an owner. null: every token must have an owner. */
  to: string | null;
  /** ERC1155: copies of each token whose row does not say another number. */
  supply: string | null;
}

export interface Plan extends Target {
  tokens: FolderToken[];
  problems: Problem[];
  ignored: string[];
  /** Whether the folder has pictures without metadata. */
  pictures: boolean;
  /** The files to upload, each once. */
  files: MediaFile[];
  /** Checksum of everything that the drop depends on. */
  fingerprint: string;
}

/** Checks what the folder holds against the collection. */
export function makePlan(contents: FolderContents, target: Target): Plan {
  const { collection, supply, to } = target;
  const multiple = collection.type === "ERC1155";
  const tokens = multiple
    ? contents.tokens.map((token) => ({ ...token, supply: token.supply ?? supply ?? (contents.pictures ? "1" : null) }))
    : contents.tokens;
  const problems = [...contents.problems, ...(multiple ? checkErc1155(tokens) : checkErc721(tokens))];
  if (to === null) {
    const message = "Say who gets the token: in the column owner, or by --to ADDRESS or --user IDENTIFIER.";
    const without = tokens.filter(({ owner }) => owner === null);
    problems.push(...without.map(({ source }) => ({ source, message })));
  }
  const { mint_supply_count: cap, type } = collection;
  if (type === "ERC721" && cap !== null && collection.minted > cap) {
    problems.push({ source: "collection", message: "More tokens are minted than its cap allows." });
  }
  const files = new Map(
    tokens.flatMap(({ media }) => Object.values<MediaFile>(media).map((file) => [file.sha256, file])),
  );
  return {
    ...target,
    tokens,
    problems,
    ignored: [...contents.ignored].sort(),
    pictures: contents.pictures,
    files: [...files.values()],
    fingerprint: fingerprintOf(collection.address, to, tokens),
  };
}

/** A message when the collection cannot take these tokens, or null. @param count tokens that are still to be minted. */
export function lackOfRoom(
  { type, mint_supply_count: cap, minted, metadata_frozen: frozen }: Shape<"Collection">,
  count: number,
): string | null {
  if (frozen !== "no") {
    const state = frozen === "yes" ? "is frozen" : "is being frozen";
    return `The metadata of the collection ${state}, so no new token can be minted into it. Choose another collection.`;
  }
  if (type === "ERC1155" || cap === null || minted + count <= cap) return null;
  return `The collection has room for ${Math.max(0, cap - minted).toString()} more tokens (mint_supply_count ${cap.toString()}), but ${count.toString()} are to be minted.`;
}

function checkErc721(tokens: readonly FolderToken[]): Problem[] {
  return tokens
    .filter(({ supply }) => supply !== null)
    .map(({ source }) => ({ source, message: "supply: Only ERC1155 collections take it. Remove the value." }));
}

function checkErc1155(tokens: readonly FolderToken[]): Problem[] {
  const problems: Problem[] = [];
  const first = new Map<string, string>();
  for (const { source, tokenId, supply } of tokens) {
    if (tokenId === null) {
      problems.push({ source, message: "The name of the file must be the token id, such as 7.json." });
    } else if (first.has(tokenId)) {
      problems.push({ source, message: `Token id ${tokenId} is used by ${first.get(tokenId) ?? ""}, too.` });
    } else {
      first.set(tokenId, source);
    }
    if (supply === null) problems.push({ source, message: "Say how many copies: --supply N, or a column supply." });
  }
  return problems;
}

/** Does not depend on the order of the keys of a JSON file, only on what is minted. */
function fingerprintOf(collection: string, to: string | null, tokens: readonly FolderToken[]): string {
  const parts = tokens.map(({ source, tokenId, supply, metadata, media, owner, reference }) => [
    source,
    tokenId,
    supply,
    Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1)),
    media.image?.sha256 ?? null,
    media.animation_url?.sha256 ?? null,
    // Left out otherwise, so that a drop of a version without them can be continued.
    ...(owner === null && reference === null ? [] : [owner, reference]),
  ]);
  return createHash("sha256")
    .update(JSON.stringify([collection, to, parts]))
    .digest("hex");
}
