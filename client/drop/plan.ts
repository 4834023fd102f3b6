import type { BulkItem } from "../bulk-progress.ts";
import type { Shape } from "../client.ts";
import { type Warning, warningsOfToken } from "../rules/warnings.ts";
import type { FolderContents, FolderToken, Owner, Problem } from "./folder.ts";
import { checkReceivers, count, type KnownUsers } from "./receivers.ts";
import { MEDIA, type MediaField, type Metadata } from "./values.ts";

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

/** How a person tells the program what the folder does not say. */
export interface Words {
  /** Who gets the tokens without an owner: "by --to ADDRESS". */
  to: string;
  /** What names the user who gets them, as the place of a problem. */
  user: string;
  /** How many copies. */
  supply: string;
  /** Begins a sentence: "With --copy-media, the service copies". */
  copyMedia: string;
  /** Ends a sentence: "leave out --copy-media". */
  noCopyMedia: string;
}

const OPTIONS: Words = {
  to: "by --to ADDRESS or --user IDENTIFIER",
  user: "--user",
  supply: "--supply N",
  copyMedia: "With --copy-media, the service copies",
  noCopyMedia: "leave out --copy-media",
};

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
  words = OPTIONS,
): Plan<Token> {
  const { collection, supply, to } = target;
  const multiple = collection.type === "ERC1155";
  const copies = supply ?? (contents.pictures ? "1" : null);
  const tokens = multiple
    ? contents.tokens.map((token) => ({ ...token, supply: token.supply ?? copies }) as Token)
    : contents.tokens;
  const receivers = checkReceivers(tokens, to, users, words.user);
  const problems = [
    ...contents.problems,
    ...(multiple ? checkErc1155(tokens, words) : checkErc721(tokens)),
    ...(collection.hosting === "hosted" ? [] : checkSelfHosted(tokens)),
    ...(multiple && collection.hosting === "self-hosted" ? [] : checkWithoutUri(tokens)),
    ...receivers.problems,
    ...(target.copyMedia ? checkCopies(tokens, collection.type, words) : []),
  ];
  if (to === null) {
    const without = tokens.filter(({ owner }) => owner === null);
    problems.push(
      ...without.map(({ source }) => ({
        source,
        message: `Say who gets the token: in the column owner, or ${words.to}.`,
      })),
    );
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
      ...(multiple ? [] : idNotes(collection, tokens)),
      ...nameNotes(tokens),
      ...elsewhereNotes(tokens, target.copyMedia, words),
      ...(collection.hosting === "hosted" ? pictureNotes(tokens) : []),
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
  const index = tokens.findIndex(({ oldId }, place) => oldId !== null && oldId !== nextId(collection, place));
  const first = tokens[index];
  if (first === undefined) return [];
  return [
    `The ids of the folder are not used: an ERC721 contract numbers its tokens itself, in the order of the folder. ${first.source} (id ${first.oldId ?? ""}) becomes token ${nextId(collection, index)}. A token without a reference of its own keeps the old id as its \`reference\`.`,
  ];
}

function nameNotes(tokens: readonly FolderToken[]): string[] {
  const nameless = tokens.filter(({ metadata }) => (metadata.name ?? "").trim() === "");
  if (nameless.length === 0) return [];
  const have = count(nameless.length, "token has", "tokens have");
  return [`${have} no name, such as ${nameless[0]?.source ?? ""}.`];
}

/** All media of a token that are not files of the folder. */
export function elsewhere({ metadata }: FolderToken): string[] {
  return MEDIA.flatMap((field) => metadata[field] ?? []).filter((uri) => !/^data:/i.test(uri));
}

/** Where media stay that the folder does not have. */
function elsewhereNotes(tokens: readonly FolderToken[], copyMedia: boolean, words: Words): string[] {
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
        `${files} ${uris.length === 1 ? "stays" : "stay"} elsewhere: ${where}. ${words.copyMedia} what is at http, https and ipfs.`,
      ];
}

function pictureNotes(tokens: readonly FolderToken[]): string[] {
  const without = tokens.filter(
    ({ metadata: { image, image_data: data }, files }) => (image ?? data ?? files.image) === undefined,
  );
  if (without.length === 0) return [];
  return [`Warning: ${without.length.toString()} of ${tokens.length.toString()} tokens have no picture.`];
}

function hostOf(uri: string): string {
  const [, host] = /^https?:\/\/(?:[^/?#]*@)?([^/?#]+)/i.exec(uri) ?? [];
  return (host ?? uri.slice(0, uri.indexOf(":"))).toLowerCase();
}

/** The service copies all media of a token, or none. */
function checkCopies(
  tokens: readonly FolderToken[],
  type: Target["collection"]["type"],
  { noCopyMedia }: Words,
): Problem[] {
  return tokens.flatMap((token) => {
    const { source } = token;
    const uris = elsewhere(token);
    const arweave = `ar: URIs are not copied. Put the file into the folder, or ${noCopyMedia}.`;
    const unknown = `{token_id} cannot be replaced in media that the service copies: they are copied before the contract gives the token its id. Put the file into the folder, or ${noCopyMedia}.`;
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

/** The URI of a token says where its metadata is, so the collection must let each token have its own. */
function checkWithoutUri(tokens: readonly FolderToken[]): Problem[] {
  return tokens
    .filter(({ uri }) => uri !== undefined)
    .map(({ source }) => ({ source, message: "uri: Only self-hosted ERC1155 collections take it. Remove the value." }));
}

/** The metadata of such a collection is on a server of its owner. */
function checkSelfHosted(tokens: readonly FolderToken[]): Problem[] {
  return tokens.flatMap(({ source, metadata, files, unlockable }) => {
    const fields = [...Object.keys({ ...metadata, ...files }), ...(unlockable === null ? [] : ["unlockable_content"])];
    const message = `The collection is self-hosted: Moneta does not store its metadata. Remove ${fields.join(", ")}.`;
    return fields.length === 0 ? [] : [{ source, message }];
  });
}

function checkErc1155(tokens: readonly FolderToken[], words: Words): Problem[] {
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
    if (supply === null)
      problems.push({ source, message: `Say how many copies: ${words.supply}, or a column supply.` });
  }
  return problems;
}

/** As a journal has it. */
export function wordsOf(to: Owner | null): string | null {
  if (to === null) return null;
  return "address" in to ? `wallet ${to.address}` : `user ${to.user}`;
}

/** What the request of a token is found by. An ERC721 contract numbers its tokens itself, so the old id stays there. */
export function referenceOf({ reference, oldId }: Pick<FolderToken, "reference" | "oldId">): string | null {
  return reference ?? oldId;
}

/**
 * The body of a mint.
 * @param to who gets this token @param media the URIs of its uploaded files
 */
export function mintOf(
  token: FolderToken,
  { collection: { address: collection_address, type }, copyMedia }: Target,
  { to, media }: { to: Owner; media: Partial<Record<MediaField, string>> },
): Shape<"Mint"> {
  const metadata: Metadata = { ...token.metadata };
  for (const field of MEDIA) if (media[field] !== undefined) metadata[field] = media[field];
  const reference = referenceOf(token);
  const given = Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== ""));
  const rest = {
    ...receiverOf(to, type),
    ...(reference !== null && { reference }),
    ...(token.unlockable !== null && { unlockable_content: token.unlockable }),
    ...(copyMedia && elsewhere(token).length > 0 && { copy_media: true }),
  };
  if (type === "ERC721") return { collection_address, ...rest, ...given };
  return {
    collection_address,
    token_id: token.tokenId,
    initial_supply: token.supply,
    ...(token.uri !== undefined && { uri: token.uri }),
    ...rest,
    ...given,
  };
}

/** The field of a mint that says who gets the token. */
export function receiverOf(owner: Owner, type: "ERC721" | "ERC1155"): Record<string, string> {
  if ("user" in owner) return { to_user: owner.user };
  return { [type === "ERC721" ? "to_address" : "initial_owner"]: owner.address };
}
