import { sql } from "kysely";

import type { CollectionMetadata, Command, TokenMetadata } from "../../domain/command.ts";
import { storedBytesOf } from "../../domain/quota.ts";
import type { RequestStatus } from "../../domain/request.ts";
import { addToCounter, counterKeys } from "../db/counters.ts";
import { forUpdate, type Trx } from "../db/sql.ts";
import type { CollectionRow, NftRow } from "../db/schema.ts";
import { searchName, storeTraits } from "../listings/search.ts";
import { toCommand } from "./requests.ts";

/*
 * Metadata is stored twice: in the row of the token or collection, and in the command of the request that created it. After a
 * reorg the row is made again from the command, so both change together.
 */

/** @returns by how many bytes the app's `stored_bytes` has grown. */
export async function replaceCollectionMetadata(
  trx: Trx,
  collection: Pick<CollectionRow, "address" | "request_id">,
  metadata: CollectionMetadata,
): Promise<number> {
  await trx
    .updateTable("collections")
    .set({ metadata: JSON.stringify(metadata) })
    .where("address", "=", collection.address)
    .execute();
  return collection.request_id === null ? 0 : replaceInCommand(trx, collection.request_id, metadata);
}

/**
 * @returns by how many bytes the app's `stored_bytes` has grown; null when a reorg has removed the token since it was read:
 * then nothing is changed.
 */
export async function replaceTokenMetadata(
  trx: Trx,
  nft: Pick<NftRow, "seq" | "token_id" | "request_id">,
  metadata: TokenMetadata,
): Promise<number | null> {
  const updated = await trx
    .updateTable("nfts")
    .set({ metadata: JSON.stringify(metadata), search_name: searchName(metadata, nft.token_id) })
    .where("seq", "=", nft.seq)
    .executeTakeFirst();
  if (updated.numUpdatedRows === 0n) return null;
  await storeTraits(trx, [nft.seq]);
  return nft.request_id === null ? 0 : replaceInCommand(trx, nft.request_id, metadata);
}

interface StoredContent {
  app_id: string;
  status: RequestStatus;
  command: string;
  unlockable: string | null;
  stored_bytes: number;
}

/** The row is locked: a request that fails at the same time gives back what is stored in it. */
async function replaceInCommand(
  trx: Trx,
  requestId: string,
  metadata: CollectionMetadata | TokenMetadata,
): Promise<number> {
  const { rows } = await sql<StoredContent>`
    select app_id, status, command, unlockable, stored_bytes from requests where id = ${requestId} ${forUpdate(trx)}`.execute(
    trx,
  );
  const [request] = rows;
  if (request === undefined) return 0;
  const command = { ...toCommand(request.command), metadata } as Command;
  const bytes = storedBytesOf(command, request.unlockable);
  await trx
    .updateTable("requests")
    .set({ command: JSON.stringify(command), stored_bytes: bytes })
    .where("id", "=", requestId)
    .execute();
  // A failed request does not count. Its token can exist all the same, after a reorg deeper than CONFIRMATIONS.
  if (request.status === "failed") return 0;
  const grown = bytes - request.stored_bytes;
  await addToCounter(trx, counterKeys.storedBytes(request.app_id), grown);
  return grown;
}
