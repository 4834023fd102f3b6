import type { BulkItem } from "../bulk-progress.ts";
import type { Shape } from "../client.ts";
import { type Warning, warningsOfToken } from "../rules/warnings.ts";
import { elsewhere, type FolderContents, type FolderToken, type Owner, type Problem } from "./folder.ts";
import { checkReceivers, count, type KnownUsers } from "./receivers.ts";

/** What a folder is minted into, and for whom. */
export interface Target {
  collection: Pick<
    Shape<"Collection">,
    "address" | "name" | "type" | "hosting" | "minted" | "mint_supply_count" | "metadata_frozen"
  >;
  /** Who gets the tokens without an owner. null: every token must have an owner. */
  to: Owner | null;
  /** ERC1155: copies of each token whose row does not say another number. */
  supply: string | null;
  /** Whether the service copies what is elsewhere. */
  copyMedia: boolean;
}

/** What a folder becomes in a collection, before anything is sent. */
export interface Plan<Token extends FolderToken = FolderToken> extends Target {
  tokens: Token[];
  problems: Problem[];
  ignored: string[];
  /** What the reader should know before the tokens are minted. */
  notes: string[];
  /** Who gets the tokens: "to 1 address, 2 users, 1 of them new: alice". */
  receivers: string;
  /** Whether the folder has pictures without metadata. */
  pictures: boolean;
}

/**
 * Checks what the folder holds against the collection, and against the users of the app.
 * @example
 * const users = { wallets: new Map(), similar: new Map(), unknown: new Set<string>() };
 * const { problems, notes } = makePlan(contents, { ...target, to: { user: "alice" } }, users);
 */
export function makePlan<Token extends FolderToken>(
  contents: FolderContents & { tokens: Token[] },
  target: Target,
  users: KnownUsers,
): Plan<Token> {
  const { collection, supply, to } = target;
  const multiple = collection.type === "ERC1155";
  const copies = supply ?? (contents.pictures ? "1" : null);
  const tokens = multiple
    ? contents.tokens.map((token) => ({ ...token, supply: token.supply ?? copies }) as Token)
    : contents.tokens;
  const receivers = checkReceivers(tokens, to, users);
  const problems = [
    ...contents.problems,
    ...(multiple ? checkErc1155(tokens) : checkErc721(tokens)),
    ...receivers.problems,
    ...(target.copyMedia ? checkCopies(tokens, collection.type) : []),
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
  return {
    ...target,
    tokens,
    problems,
    ignored: [...contents.ignored].sort(),
    notes: [
      ...contents.notes,
      ...(contents.pictures ? ["The folder has no metadata: the tokens get the names of their files."] : []),
      ...(multiple || !contents.hasIds ? [] : idNotes(collection, tokens)),
      ...nameNotes(tokens),
      ...elsewhereNotes(tokens, target.copyMedia),
      ...receivers.warnings.map((warning) => `Warning: ${warning}`),
      ...warningNotes(tokens, target),
    ],
    receivers: receivers.summary,
    pictures: contents.pictures,
  };
}

/** What becomes of a file: file -> token id -> receiver. */
export interface PlannedToken {
  source: string;
  token_id: string;
  receiver: string;
}

/**
 * What becomes of each file.
 * @param begun the items of a drop that has begun: after that, `minted` of the collection counts tokens of this drop
 * @example
 * for (const { source, token_id: id, receiver } of plannedTokens(plan)) console.log(`${source} -> token ${id} -> ${receiver}`);
 */
export function plannedTokens({ tokens, to, collection }: Plan, begun?: readonly BulkItem[]): PlannedToken[] {
  return tokens.map(({ source, files, tokenId, owner }, index) => {
    const item = begun?.[index];
    const minted = item?.is === "completed" ? item.tokenId : null;
    const next = collection.type === "ERC1155" ? tokenId : begun === undefined ? nextId(collection, index) : null;
    const isPart = /, (line|entry) \d+$/.test(source) && files.image !== undefined;
    return {
      source: isPart ? `${source} (${files.image ?? ""})` : source,
      token_id: minted ?? next ?? "?",
      receiver: wordsOf(owner ?? to) ?? "",
    };
  });
}

/** The id that an ERC721 token gets when no other caller mints and no token fails. */
function nextId({ minted }: Target["collection"], index: number): string {
  return (minted + index + 1).toString();
}

function idNotes(collection: Plan["collection"], tokens: readonly FolderToken[]): string[] {
  const index = tokens.findIndex(({ tokenId }, place) => tokenId !== null && tokenId !== nextId(collection, place));
  const first = tokens[index];
  if (first === undefined) return [];
  return [
    `The ids of the folder are not used: an ERC721 contract numbers its tokens itself, in the order of the folder. ${first.source} (id ${first.tokenId ?? ""}) becomes token ${nextId(collection, index)}.`,
  ];
}

function nameNotes(tokens: readonly FolderToken[]): string[] {
  const nameless = tokens.filter(({ metadata }) => (metadata.name ?? "").trim() === "");
  if (nameless.length === 0) return [];
  const have = count(nameless.length, "token has", "tokens have");
  return [`${have} no name, such as ${nameless[0]?.source ?? ""}.`];
}

/** Where media stay that the folder does not have. */
function elsewhereNotes(tokens: readonly FolderToken[], copyMedia: boolean): string[] {
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
    : [
        `${files} ${uris.length === 1 ? "stays" : "stay"} elsewhere: ${where}. With --copy-media, the service copies what is at http, https and ipfs.`,
      ];
}

function hostOf(uri: string): string {
  const [, host] = /^https?:\/\/(?:[^/?#]*@)?([^/?#]+)/i.exec(uri) ?? [];
  return (host ?? uri.slice(0, uri.indexOf(":"))).toLowerCase();
}

/** The service copies all media of a token, or none. */
function checkCopies(tokens: readonly FolderToken[], type: Target["collection"]["type"]): Problem[] {
  return tokens.flatMap((token) => {
    const { source } = token;
    const uris = elsewhere(token);
    const arweave = "ar: URIs are not copied. Put the file into the folder, or leave out --copy-media.";
    const unknown =
      "{token_id} cannot be replaced where --copy-media copies: the files are copied before the contract gives the token its id.";
    return [
      ...(uris.some((uri) => /^ar:/i.test(uri)) ? [{ source, message: arweave }] : []),
      ...(type === "ERC721" && uris.some((uri) => uri.includes("{token_id}")) ? [{ source, message: unknown }] : []),
    ];
  });
}

/** What the service would warn of. */
function warningNotes(tokens: readonly FolderToken[], { collection: { type }, copyMedia }: Target): string[] {
  const found = new Map<string, { warning: Warning; sources: string[] }>();
  for (const token of tokens) {
    const copiesMedia = copyMedia && elsewhere(token).length > 0;
    for (const warning of warningsOfToken(type, token.metadata, { copiesMedia })) {
      const key = `${warning.field} ${warning.message}`;
      const same = found.get(key) ?? { warning, sources: [] };
      found.set(key, same);
      same.sources.push(token.source);
    }
  }
  return [...found.values()].map(({ warning, sources }) => warningNote(warning, sources));
}

/** Sources that a warning names. */
const NAMED = 3;

/** A warning of the service as a sentence. @param sources of the tokens that it is about */
export function warningNote(
  { field, message }: Pick<Warning, "field" | "message">,
  sources: readonly string[],
): string {
  const more = sources.length > NAMED ? ` and ${(sources.length - NAMED).toString()} more` : "";
  return `Warning: ${sources.slice(0, NAMED).join(", ")}${more}: ${field}: ${message}`;
}

/**
 * A message when the collection cannot take these tokens, or null.
 * @param count tokens that are still to be minted
 * @example
 * const message = lackOfRoom(plan.collection, plan.tokens.length);
 */
export function lackOfRoom(
  { type, mint_supply_count: cap, minted, metadata_frozen: frozen }: Target["collection"],
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

/** As a journal has it. */
export function wordsOf(to: Owner | null): string | null {
  if (to === null) return null;
  return "address" in to ? `wallet ${to.address}` : `user ${to.user}`;
}
