import { createHash } from "node:crypto";

import type { Shape } from "../../../client/client.ts";
import { elsewhere, type Owner, type Problem } from "../../../client/drop/folder.ts";
import { checkReceivers, type KnownUsers } from "../../../client/drop/receivers.ts";
import { NEW_METADATA } from "../../../client/drop/values.ts";
import type { DropContents, DropToken, MediaFile } from "./folder.ts";

interface Target {
  collection: Shape<"Collection">;
  /** Who gets the tokens without an owner. null: every token must have an owner. */
  to: Owner | null;
  /** ERC1155: copies of each token whose row does not say another number. */
  supply: string | null;
  /** Whether the service copies what is elsewhere. */
  copyMedia: boolean;
}

export interface Plan extends Target {
  tokens: DropToken[];
  problems: Problem[];
  ignored: string[];
  /** What the reader should know before the tokens are minted. */
  notes: string[];
  /** Who gets the tokens: "to 1 address, 2 users, 1 of them new: alice". */
  receivers: string;
  /** Whether the folder has pictures without metadata. */
  pictures: boolean;
  /** The files to upload, each once. */
  files: MediaFile[];
  /** Checksums of everything that the drop depends on: the one of this version first, then that of version 0.3.0. */
  fingerprints: readonly [string, string];
}

/** Checks what the folder holds against the collection, and against the users of the app. */
export function makePlan(contents: DropContents, target: Target, users: KnownUsers): Plan {
  const { collection, supply, to } = target;
  const multiple = collection.type === "ERC1155";
  const tokens = multiple
    ? contents.tokens.map((token) => ({ ...token, supply: token.supply ?? supply ?? (contents.pictures ? "1" : null) }))
    : contents.tokens;
  const receivers = checkReceivers(tokens, to, users);
  const problems = [
    ...contents.problems,
    ...(multiple ? checkErc1155(tokens) : checkErc721(tokens)),
    ...receivers.problems,
    ...(target.copyMedia ? checkCopies(tokens) : []),
  ];
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
    notes: [
      ...contents.notes,
      ...(contents.pictures ? ["The folder has no metadata: the tokens get the names of their files."] : []),
      ...(multiple || !contents.hasIds ? [] : idNotes(collection, tokens)),
      ...elsewhereNotes(tokens, target.copyMedia),
      ...receivers.warnings.map((warning) => `Warning: ${warning}`),
    ],
    receivers: receivers.summary,
    pictures: contents.pictures,
    files: [...files.values()],
    fingerprints: fingerprintsOf(target, tokens),
  };
}

/** The id that an ERC721 token gets when no other caller mints and no token fails. */
export function nextId({ minted }: Shape<"Collection">, index: number): string {
  return (minted + index + 1).toString();
}

function idNotes(collection: Plan["collection"], tokens: readonly DropToken[]): string[] {
  const index = tokens.findIndex(({ tokenId }, place) => tokenId !== null && tokenId !== nextId(collection, place));
  const first = tokens[index];
  if (first === undefined) return [];
  return [
    `The ids of the folder are not used: an ERC721 contract numbers its tokens itself, in the order of the folder. ${first.source} (id ${first.tokenId ?? ""}) becomes token ${nextId(collection, index)}.`,
  ];
}

/** Where media stay that the folder does not have. */
function elsewhereNotes(tokens: readonly DropToken[], copyMedia: boolean): string[] {
  const places = new Map<string, number>();
  const uris = tokens.flatMap(elsewhere);
  for (const uri of uris) places.set(hostOf(uri), (places.get(hostOf(uri)) ?? 0) + 1);
  if (uris.length === 0) return [];
  const sorted = [...places].sort(([, a], [, b]) => b - a);
  const shown = sorted.slice(0, 5).map(([place, count]) => `${count.toString()} at ${place}`);
  const where = `${shown.join(", ")}${sorted.length > shown.length ? " and other places" : ""}`;
  const files = uris.length === 1 ? "1 picture or other file" : `${uris.length.toString()} pictures and other files`;
  return copyMedia
    ? [`The service copies ${files}: ${where}.`]
    : [`${files} stay elsewhere: ${where}. With --copy-media, the service copies what is at http, https and ipfs.`];
}

function hostOf(uri: string): string {
  const url = URL.parse(uri);
  return url === null || !/^https?:$/.test(url.protocol) ? uri.slice(0, uri.indexOf(":")).toLowerCase() : url.host;
}

/** The service copies all media of a token, or none. */
function checkCopies(tokens: readonly DropToken[]): Problem[] {
  return tokens
    .filter((token) => elsewhere(token).some((uri) => /^ar:/i.test(uri)))
    .map(({ source }) => ({
      source,
      message: "ar: URIs are not copied. Put the file into the folder, or leave out --copy-media.",
    }));
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

function checkErc721(tokens: readonly DropToken[]): Problem[] {
  return tokens
    .filter(({ supply }) => supply !== null)
    .map(({ source }) => ({ source, message: "supply: Only ERC1155 collections take it. Remove the value." }));
}

function checkErc1155(tokens: readonly DropToken[]): Problem[] {
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

/** As a journal has it. */
export function wordsOf(to: Owner | null): string | null {
  if (to === null) return null;
  return "address" in to ? `wallet ${to.address}` : `user ${to.user}`;
}

/** Do not depend on the order of the keys of a JSON file, only on what is minted. */
function fingerprintsOf(target: Target, tokens: readonly DropToken[]): [string, string] {
  const earlier = tokens.map((token) => ({
    ...token,
    metadata: Object.fromEntries(Object.entries(token.metadata).filter(([field]) => !NEW_METADATA.includes(field))),
  }));
  // Version 0.3.0 left these fields out, and rounded large numbers.
  return [checksum(wordsOfDrop(target, tokens)), checksum(JSON.stringify(JSON.parse(wordsOfDrop(target, earlier))))];
}

function wordsOfDrop({ collection, to, copyMedia }: Target, tokens: readonly DropToken[]): string {
  const parts = tokens.map(
    ({ source, earlierSource, tokenId, supply, metadata, media, owner, reference, unlockable }) => [
      earlierSource ?? source,
      tokenId,
      supply,
      Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1)),
      media.image?.sha256 ?? null,
      media.animation_url?.sha256 ?? null,
      // Left out otherwise, so that a drop of a version without them can be continued.
      ...(owner === null && reference === null && unlockable === null ? [] : [owner, reference]),
      ...(unlockable === null ? [] : [unlockable]),
    ],
  );
  return JSON.stringify([collection.address, wordsOf(to), parts, ...(copyMedia ? ["copy media"] : [])]);
}

function checksum(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
