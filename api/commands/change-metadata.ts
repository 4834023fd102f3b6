import type { AnnounceMetadata, CollectionMetadata, CreateCollection, TokenMetadata } from "../domain/command.ts";
import { ApiError, fieldError } from "../domain/error-codes.ts";
import { parseExact } from "../shared/exact-json.ts";
import { findCollectionOfApp } from "../store/listings/collections.ts";
import type { Trx } from "../store/db/engine.ts";
import { isMetadataOpen } from "../store/requests/freezing.ts";
import { replaceCollectionMetadata, replaceTokenMetadata } from "../store/requests/metadata.ts";
import { findMintedNft } from "../store/listings/nfts.ts";
import type { CollectionRow } from "../store/db/schema.ts";
import { type AcceptDeps, acceptRequest } from "./accept-request.ts";
import type { Caller } from "./idempotency.ts";

/** What a field becomes; null: it is left out from now on. Fields that are not named stay as they are. */
export type Changes<M> = { [F in keyof M]?: M[F] | null | undefined };

export interface Changed {
  /** The metadata as it is stored now. */
  metadata: string;
  /** The request that announces the change on chain; null when nothing changed, or the service may not announce. */
  requestId: string | null;
}

/** @throws ApiError `not_found`, `wrong_hosting`, `metadata_frozen`, `validation_failed` */
export async function changeCollectionMetadata(
  deps: AcceptDeps,
  caller: Caller,
  address: string,
  changes: Changes<CollectionMetadata>,
): Promise<Changed> {
  const collection = await hostedCollection(deps, caller, address);
  return apply(deps, caller, collection, null, {
    read: async (trx) => (await findCollectionOfApp(trx, caller.appId, address))?.metadata ?? null,
    merge: (stored) => {
      const metadata = merged(stored, changes) as CreateCollection["metadata"];
      if ((metadata.seller_fee_basis_points ?? 0) > 0 && metadata.fee_recipient === undefined) {
        const message = "Must be given when there is a fee.";
        throw new ApiError("validation_failed", [{ field: "fee_recipient", code: "required", message }]);
      }
      return JSON.stringify(metadata);
    },
    write: (trx, metadata) => replaceCollectionMetadata(trx, collection, metadata),
  });
}

/** @throws ApiError `not_found`, `wrong_hosting`, `metadata_frozen` */
export async function changeTokenMetadata(
  deps: AcceptDeps,
  caller: Caller,
  address: string,
  tokenId: string,
  changes: Changes<TokenMetadata>,
): Promise<Changed> {
  const collection = await hostedCollection(deps, caller, address);
  const find = async (trx: Trx) => {
    const nft = await findMintedNft(trx, collection.address, tokenId);
    if (nft === undefined || nft.supply === "0") throw new ApiError("not_found");
    return nft;
  };
  return apply(deps, caller, collection, tokenId, {
    read: async (trx) => (await find(trx)).metadata,
    merge: (stored) => JSON.stringify(merged(stored, changes)),
    write: async (trx, metadata) => replaceTokenMetadata(trx, await find(trx), metadata),
  });
}

async function hostedCollection(deps: AcceptDeps, caller: Caller, address: string): Promise<CollectionRow> {
  const collection = await findCollectionOfApp(deps.database.read, caller.appId, address);
  if (collection === undefined) throw new ApiError("not_found");
  if (collection.hosting !== "hosted") throw fieldError("wrong_hosting", "address", "The collection is self-hosted.");
  return collection;
}

interface Change {
  /** The stored metadata; null: the service hosts none. */
  read(trx: Trx): Promise<string | null>;
  merge(stored: string): string;
  write(trx: Trx, metadata: string): Promise<void>;
}

/** Changes the metadata, and accepts the request that announces it, all or nothing. */
async function apply(
  deps: AcceptDeps,
  caller: Caller,
  collection: CollectionRow,
  tokenId: string | null,
  change: Change,
): Promise<Changed> {
  const state = { metadata: "", changed: false };
  const run = async (trx: Trx) => {
    const stored = await change.read(trx);
    if (stored === null) throw fieldError("wrong_hosting", "token_id", "The token's metadata is not hosted here.");
    if (!(await isMetadataOpen(trx, collection.address))) {
      throw fieldError("metadata_frozen", "address", "The collection's metadata is frozen, or about to be.");
    }
    state.metadata = change.merge(stored);
    state.changed = state.metadata !== stored;
    if (state.changed) await change.write(trx, state.metadata);
  };
  if (collection.service_is_steward === 0) {
    await deps.database.write(run);
    return { metadata: state.metadata, requestId: null };
  }
  const command: AnnounceMetadata = { kind: "announce-metadata", collection: collection.address, tokenId };
  try {
    const answer = await acceptRequest(deps, caller, {
      type: "metadata",
      command,
      collection: collection.address,
      tokenId,
      reserve: async (trx) => {
        await run(trx);
        if (!state.changed) throw new NothingChanged();
      },
    });
    return { metadata: state.metadata, requestId: (JSON.parse(answer) as { request_id: string }).request_id };
  } catch (error) {
    if (error instanceof NothingChanged) return { metadata: state.metadata, requestId: null };
    throw error;
  }
}

/** Takes the request back: there is nothing to announce. */
class NothingChanged extends Error {
  override readonly name = "NothingChanged";
}

function merged(stored: string, changes: object): object {
  const metadata = { ...(parseExact(stored) as object), ...definedOf(changes) };
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null));
}

function definedOf(changes: object): object {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
}
