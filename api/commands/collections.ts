import { contentNamedIn } from "../content/cids.ts";
import { MAX_COLLECTION_TEXTS } from "../config/limits.ts";
import type { AnnounceMetadata, CollectionMetadata, CreateCollection, TokenMetadata } from "../domain/command.ts";
import { ApiError, fieldError } from "../domain/error-codes.ts";
import { mostCollectionBytes, textBytes } from "../domain/gas-estimate.ts";
import { storedTokenMetadata } from "../domain/metadata-files.ts";
import { type Warning, warningsOfCollectionMetadata, warningsOfToken } from "../../client/rules/warnings.ts";
import { lockCollections, type Trx } from "../store/db/sql.ts";
import { orderedId } from "../shared/ids.ts";
import { findCollectionOfApp, type StoredCollection } from "../store/listings/collections.ts";
import { findMintedNft } from "../store/listings/nfts.ts";
import { keepContent } from "../store/media/pins.ts";
import { isMetadataOpen, startFreezing } from "../store/requests/freezing.ts";
import { readMeasuredGas } from "../store/requests/gas-measurement.ts";
import { replaceCollectionMetadata, replaceTokenMetadata } from "../store/requests/metadata.ts";
import { accept, type Item, refuseLargeMetadata } from "./accept.ts";
import type { Changes } from "./accept-changes.ts";
import { AppQuotas } from "./app-quotas.ts";
import type { CommandContext } from "./context.ts";
import type { Caller } from "./idempotency.ts";
import { refuseRelay } from "./refuse-relay.ts";

/** New values of fields. null removes a field; undefined keeps it. */
type ChangedFields<M> = { [F in keyof M]?: M[F] | null | undefined };

interface Referred {
  /** The app's own text for the request. */
  reference?: string | undefined;
}

interface Changed<M> {
  /** The metadata as it is stored now. */
  metadata: M;
  /** The request that announces the change on chain; null when nothing changed or the service may not announce. */
  requestId: string | null;
}
interface Warned {
  /** What the sent fields probably do not do as they were meant. */
  warnings: Warning[];
}

/** @throws ApiError `not_found`, `wrong_hosting`, `metadata_frozen`, `quota_exceeded`, `validation_failed` */
export async function changeCollectionMetadata(
  context: CommandContext,
  caller: Caller,
  address: string,
  { reference, ...changes }: ChangedFields<CollectionMetadata> & Referred,
): Promise<Changed<CollectionMetadata> & Warned> {
  const collection = await hostedCollection(context, caller, address);
  refuseRelay(context.relay, [["fee_recipient", changes.fee_recipient]]);
  const changed = await apply(context, caller, collection, {
    tokenId: null,
    reference,
    read: async (trx) => (await findCollectionOfApp(trx, caller.appId, address))?.metadata ?? null,
    merge: (stored) => {
      const metadata = merged(stored, changes);
      if ((metadata.seller_fee_basis_points ?? 0) > 0 && metadata.fee_recipient === undefined) {
        const message = "This field is required when seller_fee_basis_points is not 0.";
        throw new ApiError("validation_failed", [{ field: "fee_recipient", code: "required", message }]);
      }
      return metadata;
    },
    write: (trx, metadata) => replaceCollectionMetadata(trx, collection, metadata),
  });
  return { ...changed, warnings: warningsOfCollectionMetadata(changes) };
}

/** @throws ApiError `not_found`, `wrong_hosting`, `metadata_frozen`, `quota_exceeded`, `validation_failed` */
export async function changeTokenMetadata(
  context: CommandContext,
  caller: Caller,
  address: string,
  tokenId: string,
  { reference, ...changes }: ChangedFields<TokenMetadata> & Referred,
): Promise<Changed<TokenMetadata> & Warned> {
  const collection = await hostedCollection(context, caller, address);
  if (collection.type === "ERC721" && changes.decimals != null) {
    throw fieldError("wrong_collection_type", "decimals", "ERC721 collections do not take this field.");
  }
  const find = async (trx: Trx) => {
    const nft = await findMintedNft(trx, collection.address, tokenId);
    if (nft === undefined || nft.supply === "0") throw new ApiError("not_found");
    return nft;
  };
  const changed = await apply(context, caller, collection, {
    tokenId,
    reference,
    read: async (trx) => (await find(trx)).metadata,
    merge: (stored) => {
      const metadata = merged(stored, changes);
      return isSame(metadata, stored) ? stored : storedTokenMetadata(metadata);
    },
    write: async (trx, metadata) => {
      const grown = await replaceTokenMetadata(trx, await find(trx), metadata);
      if (grown === null) throw new ApiError("not_found");
      return grown;
    },
  });
  return { ...changed, warnings: warningsOfToken(collection.type, changes) };
}

async function hostedCollection(context: CommandContext, caller: Caller, address: string): Promise<StoredCollection> {
  const collection = await findCollectionOfApp(context.database.read, caller.appId, address);
  if (collection === undefined) throw new ApiError("not_found");
  if (collection.hosting !== "hosted") {
    throw fieldError(
      "wrong_hosting",
      "address",
      "The collection is self-hosted: the service does not store its metadata. Change the files at its base_uri and collection_uri instead.",
    );
  }
  return collection;
}

interface Change<M> extends Referred {
  /** null: the collection's own metadata. */
  tokenId: string | null;
  /** The stored metadata; null when the service does not host it. */
  read(trx: Trx): Promise<M | null>;
  merge(stored: M): M;
  /** @returns by how many bytes it makes the app's `stored_bytes` grow. */
  write(trx: Trx, metadata: M): Promise<number>;
}

/** Changes the metadata and accepts the request that announces it, in one transaction. */
async function apply<M extends object>(
  context: CommandContext,
  caller: Caller,
  collection: StoredCollection,
  change: Change<M>,
): Promise<Changed<M>> {
  const { tokenId, reference } = change;
  const run = async (trx: Trx): Promise<{ metadata: M; changed: boolean }> => {
    const { appId } = caller;
    const quotas = await AppQuotas.lockOne(trx, appId, "stored_bytes");
    await lockCollections(trx, [collection.address]);
    const stored = await change.read(trx);
    if (stored === null) {
      throw fieldError(
        "wrong_hosting",
        "token_id",
        "The collection is hosted, but not this token: it has a URI of its own. Change the file at its `token_uri` instead.",
      );
    }
    if (!(await isMetadataOpen(trx, collection.address))) throw frozen();
    const metadata = change.merge(stored);
    refuseLargeMetadata(metadata, stored);
    const changed = !isSame(metadata, stored);
    if (changed) {
      const grown = await change.write(trx, metadata);
      quotas.require(appId, { stored_bytes: grown });
      await keepContent(trx, namedBy(metadata), Date.now());
    }
    return { metadata, changed };
  };
  if (collection.service_is_steward === 0) {
    const { metadata } = await context.database.write(run);
    return { metadata, requestId: null };
  }
  const { address, type } = collection;
  const command: AnnounceMetadata = { kind: "announce-metadata", collection: address, type, tokenId };
  const id = orderedId();
  const item = { id, appId: caller.appId, type: "metadata", command, reference, collection: address, tokenId } as const;
  const done: { metadata?: M } = {};
  const changes = async (trx: Trx) => {
    const { metadata, changed } = await run(trx);
    done.metadata = metadata;
    if (!changed) throw new NothingChanged();
    return NOTHING_REFUSED;
  };
  let requestId: string | null = id;
  try {
    await accept(context, caller, () => Promise.resolve({ items: [item], changes }));
  } catch (error) {
    if (!(error instanceof NothingChanged)) throw error;
    requestId = null;
  }
  if (done.metadata === undefined) throw new Error("the request was accepted without changing the metadata");
  return { metadata: done.metadata, requestId };
}

const NOTHING_REFUSED: ReadonlyMap<string, ApiError> = new Map();

/** Rolls back the request, because there is nothing to announce. */
class NothingChanged extends Error {
  override readonly name = "NothingChanged";
}

/** The content that the metadata names, as CIDs. */
function namedBy(metadata: object): string[] {
  return [...contentNamedIn(Object.values(metadata).filter((value) => typeof value === "string")).keys()];
}

function isSame(metadata: object, stored: object): boolean {
  return JSON.stringify(metadata) === JSON.stringify(stored);
}

function merged<M extends object>(stored: M, changes: ChangedFields<M>): M {
  const defined = Object.entries(changes).filter(([, value]) => value !== undefined);
  const metadata = { ...stored, ...Object.fromEntries(defined) };
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null)) as M;
}

/** Accepts the deployment of a collection. @returns the JSON text of the answer. */
export async function createCollection(
  context: CommandContext,
  caller: Caller,
  command: CreateCollection,
  more: Referred & { warnings: Warning[] },
): Promise<string> {
  const item = { id: orderedId(), appId: caller.appId, type: "collection" as const, command, ...more };
  const check = async () => {
    await refuseLongTexts(context, command);
    return { items: [item] };
  };
  return (await accept(context, caller, check)).json;
}

/** Texts of up to this many bytes fit into a transaction of every chain. */
const SHORT_TEXTS = 1_024;

/**
 * The texts become code of the new contract, which costs most where the chain charges for the growth of its state (EIP-8037).
 * @throws ApiError `validation_failed`
 */
export async function refuseLongTexts({ database }: CommandContext, command: CreateCollection): Promise<void> {
  const bytes = textBytes(command);
  if (bytes <= SHORT_TEXTS) return;
  const most = Math.min(MAX_COLLECTION_TEXTS, mostCollectionBytes(await readMeasuredGas(database.read)));
  if (bytes <= most) return;
  const texts = {
    name: command.name,
    symbol: command.symbol,
    base_uri: command.baseUri,
    collection_uri: command.collectionUri,
  };
  const [[field]] = Object.entries(texts).sort(
    ([, a], [, b]) => Buffer.byteLength(b ?? "") - Buffer.byteLength(a ?? ""),
  ) as [[string, unknown]];
  const message = `Name, symbol and URIs have ${bytes.toString()} bytes together. A new collection on this chain can have ${most.toString()}: its contract must fit into one transaction.`;
  throw new ApiError("validation_failed", [{ field, code: "too_long", message }]);
}

/**
 * Accepts the freeze of a hosted collection's metadata. From then on metadata cannot be changed or added. The media role
 * builds the directory once every accepted mint is final.
 * @returns the JSON text of the answer.
 * @throws ApiError `not_found`, `wrong_hosting`, `metadata_frozen`
 */
export async function freezeMetadata(
  context: CommandContext,
  caller: Caller,
  address: string,
  reference: string | undefined,
): Promise<string> {
  return (await accept(context, caller, () => checkFreeze(context, caller.appId, address, reference))).json;
}

/** The freeze as an item, with what it changes. @throws ApiError */
export async function checkFreeze(
  { database }: CommandContext,
  appId: string,
  address: string,
  reference?: string,
): Promise<{ items: [Item]; changes: Changes }> {
  const collection = await findCollectionOfApp(database.read, appId, address);
  if (collection === undefined) throw new ApiError("not_found");
  if (collection.metadata_frozen !== 0) throw frozen();
  if (collection.hosting !== "hosted") {
    throw fieldError(
      "wrong_hosting",
      "address",
      "The collection is self-hosted: the service has no metadata of it to freeze. Only hosted collections can be frozen.",
    );
  }
  if (collection.base_uri !== null) {
    throw fieldError(
      "wrong_hosting",
      "address",
      "The collection was hosted, but its owner has replaced the base URI. Only that owner can freeze it.",
    );
  }
  if (collection.service_is_steward === 0) {
    throw fieldError(
      "wrong_hosting",
      "address",
      "The collection has its own owner now. Only that owner can freeze it.",
    );
  }
  const command = { kind: "freeze-metadata", collection: address, type: collection.type, directory: null } as const;
  const item = {
    id: orderedId(),
    appId,
    type: "freeze" as const,
    command,
    reference,
    collection: address,
    waitsForMedia: true,
  };
  const changes = async (trx: Trx) => {
    if (!(await startFreezing(trx, address))) throw frozen();
    return NOTHING_REFUSED;
  };
  return { items: [item], changes };
}

function frozen(): ApiError {
  return fieldError("metadata_frozen", "address", "The collection's metadata is frozen, or a freeze is in progress.");
}
