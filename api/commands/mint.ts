import { mintFunction, type MintFunction } from "../chain/codec/mint-function.ts";
import { MEDIA_FIELDS, METADATA_FIELDS, type MetadataField, type Mint, type TokenMetadata } from "../domain/command.ts";
import { ApiError, fieldError, requiredField } from "../domain/error-codes.ts";
import { storedTokenMetadata, TOKEN_ID_PLACE } from "../domain/metadata-files.ts";
import { type Warning, warningsOfToken } from "../../client/rules/warnings.ts";
import { NEXT_ID } from "../domain/token.ts";
import { sealedPlace } from "../keys/sealer.ts";
import { orderedId } from "../shared/ids.ts";
import type { StoredCollection } from "../store/listings/collections.ts";
import { accept, type Item } from "./accept.ts";
import type { Answer } from "./answers.ts";
import type { CommandContext } from "./context.ts";
import type { Caller } from "./idempotency.ts";
import { isError, orError, type OrError, withoutErrors } from "./or-error.ts";
import {
  type AddressField,
  recipientAddress,
  destinationErrors,
  newWalletOf,
  type Recipients,
  recipientsOf,
} from "./recipients.ts";

/**
 * Accepts mints into the app's collections: one, or those of a batch. A collection's type and hosting decide between the five
 * variants.
 * @param mints the fields of each mint, or the error that it has already.
 */
export function mint(
  context: CommandContext,
  caller: Caller,
  mints: readonly OrError<MintFields>[],
  isBatch: boolean,
): Promise<Answer> {
  const { appId } = caller;
  const check = async () => {
    const addresses = new Set(withoutErrors(mints).map((fields) => fields.collection_address));
    const found = await context.lookUps.collections(Array.from(addresses, (address) => ({ appId, address })));
    const collections = new Map(found.flatMap((one) => (one === undefined ? [] : [[one.address, one]])));
    const recipients = await recipientsOf(context, appId, mints);
    const items: OrError<Item>[] = [];
    for (const fields of mints) {
      const item = isError(fields) ? fields : orError(() => itemOf(appId, collections, recipients, fields));
      const content = isError(fields) ? null : fields.unlockable_content;
      if (isError(item) || content == null) items.push(item);
      else items.push({ ...item, unlockable: await context.sealer.seal(content, sealedPlace("unlockable", item.id)) });
    }
    return { items };
  };
  return accept(context, caller, check, isBatch);
}

/** @throws ApiError when the collection takes no such mint. */
function itemOf(
  appId: string,
  collections: ReadonlyMap<string, StoredCollection>,
  recipients: Recipients,
  fields: MintFields,
): Item {
  const collection = collections.get(fields.collection_address);
  if (collection === undefined) throw collectionNotFound();
  // Whatever the fields say: no form of a mint would do.
  if (collection.adopted === 1) requireMinter(collection);
  const command = mintVariant(collection, fields, recipients);
  requireMinter(collection);
  const waitsForMedia = fields.copy_media === true && checkMedia(command);
  return {
    id: orderedId(),
    appId,
    type: "mint",
    command,
    reference: fields.reference,
    collection: command.collection,
    tokenId: tokenOf(command),
    newWallet: newWalletOf(recipients, fields),
    waitsForMedia,
    warnings: warningsOf(command, waitsForMedia),
  };
}

/** The id that the command names. The chain chooses those of the service's ERC721 collections. */
function tokenOf(command: Mint): string | null {
  if (command.adopted !== undefined) return command.adopted.tokenId;
  return command.kind === "mint-erc721" ? null : command.tokenId;
}

function collectionNotFound(): ApiError {
  return fieldError("collection_not_found", "collection_address", "This app has no collection at this address.");
}

/** @throws ApiError if the service cannot mint into the collection of the app. @param collection undefined: there is none. */
export function requireMinter(collection: StoredCollection | undefined): void {
  if (collection === undefined) throw collectionNotFound();
  const message = collection.adopted === 1 ? whyNoMint(collection) : REMOVED;
  if (collection.service_may_mint === 0 && message !== null)
    throw fieldError("service_cannot_mint", "collection_address", message);
}

const REMOVED = "The collection's owner removed the service as a minter.";

/** Why the service cannot mint into an adopted contract; null: it can. */
function whyNoMint({ adoption }: StoredCollection): string | null {
  if (adoption?.mintFunction == null)
    return "Another party deployed this contract, and the operator has not switched minting on for it (`collection minting`).";
  if (adoption.mintingStopped !== null)
    return `Minting into this contract is stopped until the operator confirms it: ${adoption.mintingStopped}`;
  return adoption.state === "followed" ? null : "The contract is still being read, or left alone for a time.";
}

function warningsOf(command: Mint, copiesMedia: boolean): Warning[] {
  switch (command.kind) {
    case "mint-erc721":
      return warningsOfToken("ERC721", command.metadata, { copiesMedia });
    case "create-erc1155":
      return warningsOfToken("ERC1155", command.metadata, { uri: command.uri, copiesMedia });
    case "mint-erc1155":
      return [];
  }
}

const ID_NOT_KNOWN =
  "Must not contain {token_id} together with copy_media: the files are copied before the contract gives the token its id. Send the mint without copy_media, or write the URI of this token.";
const SCHEMES = ["http:", "https:", "data:", "ipfs:"];

/**
 * Checks the media URLs of a mint before the media are copied. The id of an ERC721 token is not known by then.
 * @returns whether there are any.
 * @throws ApiError `validation_failed`, naming the fields
 */
function checkMedia(command: Mint): boolean {
  if (command.kind === "mint-erc1155" || command.metadata === null) return false;
  const { metadata } = command;
  const given = MEDIA_FIELDS.filter((field) => metadata[field] !== undefined && metadata[field] !== "");
  const wrong = given.filter((field) => !SCHEMES.includes(URL.parse((metadata[field] ?? "").trim())?.protocol ?? ""));
  if (wrong.length > 0) {
    const message = "Must have one of the schemes http:, https:, ipfs:, data: when copy_media is true.";
    throw refusal("validation_failed", wrong, "invalid_format", message);
  }
  const unfilled = given.filter((field) => metadata[field]?.includes(TOKEN_ID_PLACE));
  const isIdKnown = command.kind === "create-erc1155" && ![null, NEXT_ID].includes(tokenOf(command));
  if (!isIdKnown && unfilled.length > 0) throw refusal("validation_failed", unfilled, "conflict", ID_NOT_KNOWN);
  return given.length > 0;
}

/** The fields of all five variants. The collection decides which of them apply. */
interface MintFields extends MetadataFields {
  collection_address: string;
  to_address?: string | undefined;
  initial_owner?: string | undefined;
  to_user?: string | undefined;
  token_id?: bigint | undefined;
  initial_supply?: bigint | undefined;
  quantity?: bigint | undefined;
  uri?: string | undefined;
  copy_media?: boolean | undefined;
  unlockable_content?: string | undefined;
  reference?: string | undefined;
}
type MetadataFields = { [Name in MetadataField]?: TokenMetadata[Name] | undefined };
type Field = keyof MintFields;

const HOSTED_ONLY: readonly Field[] = [...METADATA_FIELDS, "copy_media", "unlockable_content"];
const ERC1155_ONLY: readonly Field[] = ["uri", "token_id", "initial_supply", "initial_owner", "quantity", "decimals"];

/**
 * Chooses the variant by the collection's type and hosting, and refuses fields of the others.
 * @throws ApiError `wrong_collection_type`, `wrong_hosting` or `validation_failed`, naming the fields
 */
function mintVariant(collection: StoredCollection, fields: MintFields, recipients: Recipients): Mint {
  const minting = collection.adoption?.mintFunction ?? null;
  if (minting !== null) return mintAdopted(collection, mintFunction(minting), fields, recipients);
  if (collection.type === "ERC721") return mintErc721(collection, fields, recipients);
  if (isNewId(fields)) return createErc1155(collection, fields, recipients);
  return mintErc1155(collection, fields, recipients);
}

/** Whether the fields are those of a new id. @throws ApiError when some are those of more copies. */
function isNewId(fields: MintFields): boolean {
  const create = given(fields, ["initial_supply", "initial_owner"]);
  const more = given(fields, ["quantity", "to_address"]);
  const message = "Send either initial_supply and initial_owner (a new id), or quantity and to_address (more copies).";
  if (create.length > 0 && more.length > 0)
    throw refusal("validation_failed", [...create, ...more], "conflict", message);
  return create.length > 0;
}

function mintErc721(collection: StoredCollection, fields: MintFields, recipients: Recipients): Mint {
  refuse(fields, ERC1155_ONLY, "wrong_collection_type", "ERC721 collections do not take this field.");
  const hosted = checkHosting(collection, fields);
  requireAll(fields, [], "to_address");
  const to = recipientAddress(recipients, fields, "to_address");
  const metadata = hosted ? storedTokenMetadata(metadataOf(fields)) : null;
  return { kind: "mint-erc721", collection: collection.address, to, metadata };
}

/**
 * The mint of an adopted contract: its function decides whether a caller names the id and the URI. Metadata are stored here, and
 * served under the path of the rescued ones.
 */
function mintAdopted(
  collection: StoredCollection,
  { takes, signature }: MintFunction,
  fields: MintFields,
  recipients: Recipients,
): Mint {
  const { address, type } = collection;
  const [own, also] = [takes.has("token_id"), takes.has("uri")];
  const unwanted: Field[] = [
    ...(own ? [] : (["token_id"] as const)),
    ...(also ? [] : (["uri"] as const)),
    ...(type === "ERC721" ? ERC1155_ONLY.filter((field) => field !== "uri" && field !== "token_id") : []),
  ];
  refuse(fields, unwanted, "validation_failed", `The contract mints by ${signature}, which does not take this field.`);
  const [amount, destination] = isNewId(fields)
    ? (["initial_supply", "initial_owner"] as const)
    : (["quantity", "to_address"] as const);
  requireAll(
    fields,
    [...(own ? ["token_id" as const] : []), ...(also ? ["uri" as const] : []), ...(type === "ERC721" ? [] : [amount])],
    type === "ERC721" ? "to_address" : destination,
    `This field is required: the contract mints by ${signature}.`,
  );
  const to = recipientAddress(recipients, fields, type === "ERC721" ? "to_address" : destination);
  const adopted = { tokenId: fields.token_id?.toString() ?? null, uri: fields.uri ?? null };
  const metadata = given(fields, METADATA_FIELDS).length > 0 ? storedTokenMetadata(metadataOf(fields)) : null;
  if (type === "ERC721") return { kind: "mint-erc721", collection: address, to, metadata, adopted };
  if (!takes.has("quantity") && fields[amount] !== 1n)
    throw refusal("validation_failed", [amount], "not_allowed", `The contract mints by ${signature}: one copy only.`);
  const token = {
    collection: address,
    to,
    tokenId: adopted.tokenId ?? "0",
    quantity: required(fields, amount).toString(),
  };
  if (metadata === null) return { kind: "mint-erc1155", ...token, adopted };
  return { kind: "create-erc1155", ...token, uri: null, metadata, adopted };
}

/* These say for what the fields of ERC1155 are required: a call that lacks some of them may mean either. */
const NEW_TOKEN = "This field is required: a new id needs token_id, initial_supply, and initial_owner or to_user.";
const MORE_COPIES =
  "This field is required: more copies of an id need token_id, quantity, and to_address or to_user. A new id needs token_id, initial_supply, and initial_owner or to_user instead.";

function createErc1155(collection: StoredCollection, fields: MintFields, recipients: Recipients): Mint {
  const hosted = checkHosting(collection, fields);
  requireAll(fields, ["token_id", "initial_supply"], "initial_owner", NEW_TOKEN);
  const uri = fields.uri ?? null;
  if (uri !== null) {
    const message = "Send either uri or metadata fields: a token with its own uri has no hosted metadata.";
    const metadata = given(fields, METADATA_FIELDS);
    if (metadata.length > 0) throw refusal("validation_failed", ["uri", ...metadata], "conflict", message);
  }
  return {
    kind: "create-erc1155",
    collection: collection.address,
    to: recipientAddress(recipients, fields, "initial_owner"),
    tokenId: required(fields, "token_id").toString(),
    quantity: required(fields, "initial_supply").toString(),
    uri,
    metadata: hosted && uri === null ? storedTokenMetadata(metadataOf(fields)) : null,
  };
}

function mintErc1155(collection: StoredCollection, fields: MintFields, recipients: Recipients): Mint {
  const otherVariants: Field[] = ["uri", ...HOSTED_ONLY];
  refuse(
    fields,
    otherVariants,
    "validation_failed",
    "More copies of an id take only token_id, quantity, to_address or to_user, and reference. A new id needs initial_supply and initial_owner instead of quantity and to_address.",
  );
  requireAll(fields, ["token_id", "quantity"], "to_address", MORE_COPIES);
  return {
    kind: "mint-erc1155",
    collection: collection.address,
    to: recipientAddress(recipients, fields, "to_address"),
    tokenId: required(fields, "token_id").toString(),
    quantity: required(fields, "quantity").toString(),
  };
}

/** @returns whether the service hosts the metadata. */
function checkHosting(collection: StoredCollection, fields: MintFields): boolean {
  if (collection.hosting === "hosted") return true;
  refuse(
    fields,
    HOSTED_ONLY,
    "wrong_hosting",
    "The collection is self-hosted: its app publishes the metadata at base_uri. Send the mint without this field. Hosted collections, which are created without base_uri and collection_uri, take it.",
  );
  return false;
}

function metadataOf(fields: MintFields): TokenMetadata {
  return Object.fromEntries(given(fields, METADATA_FIELDS).map((name) => [name, fields[name]]));
}

function given(fields: MintFields, names: readonly Field[]): Field[] {
  return names.filter((name) => fields[name] !== undefined);
}

type Refusal = "validation_failed" | "wrong_collection_type" | "wrong_hosting";

function refuse(fields: MintFields, names: readonly Field[], errorCode: Refusal, message: string): void {
  const present = given(fields, names);
  if (present.length === 0) return;
  throw refusal(errorCode, present, errorCode === "validation_failed" ? "not_allowed" : errorCode, message);
}

function refusal(errorCode: Refusal, names: readonly Field[], code: string, message: string): ApiError {
  return new ApiError(
    errorCode,
    names.map((field) => ({ field, code, message })),
  );
}

/**
 * The destination is an address or `to_user`.
 * @param message what a call with too few fields may mean.
 * @throws ApiError `validation_failed`, naming every missing field.
 */
function requireAll(fields: MintFields, names: readonly Field[], destination: AddressField, message?: string): void {
  const absent = names.filter((name) => fields[name] === undefined);
  const errors = [...absent.map((name) => requiredField(name, message)), ...destinationErrors(fields, destination)];
  if (errors.length > 0) throw new ApiError("validation_failed", errors);
}

function required<F extends Field>(fields: MintFields, name: F): NonNullable<MintFields[F]> {
  const value = fields[name];
  if (value === undefined) throw new ApiError("validation_failed", [requiredField(name)]);
  return value;
}
