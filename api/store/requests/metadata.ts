import type { CollectionMetadata, TokenMetadata } from "../../domain/command.ts";
import type { Trx } from "../db/engine.ts";
import type { CollectionRow, NftRow } from "../db/schema.ts";
import { toCommand } from "./stored-request.ts";

/*
 * Metadata is stored twice: in the row of the token or collection, and in the command of the request that created it. After a
 * reorg the row is made again from the command, so both change together.
 */

export async function replaceCollectionMetadata(
  trx: Trx,
  collection: Pick<CollectionRow, "address" | "request_id">,
  metadata: CollectionMetadata,
): Promise<void> {
  await trx
    .updateTable("collections")
    .set({ metadata: JSON.stringify(metadata) })
    .where("address", "=", collection.address)
    .execute();
  await replaceInCommand(trx, collection.request_id, metadata);
}

/** @returns false when a reorg has removed the token since it was read; then nothing is changed. */
export async function replaceTokenMetadata(
  trx: Trx,
  nft: Pick<NftRow, "seq" | "request_id">,
  metadata: TokenMetadata,
): Promise<boolean> {
  const updated = await trx
    .updateTable("nfts")
    .set({ metadata: JSON.stringify(metadata) })
    .where("seq", "=", nft.seq)
    .executeTakeFirst();
  if (updated.numUpdatedRows === 0n) return false;
  if (nft.request_id !== null) await replaceInCommand(trx, nft.request_id, metadata);
  return true;
}

async function replaceInCommand(
  trx: Trx,
  requestId: string,
  metadata: CollectionMetadata | TokenMetadata,
): Promise<void> {
  const request = await trx.selectFrom("requests").select("command").where("id", "=", requestId).executeTakeFirst();
  if (request === undefined) return;
  const command = { ...toCommand(request.command), metadata };
  await trx
    .updateTable("requests")
    .set({ command: JSON.stringify(command) })
    .where("id", "=", requestId)
    .execute();
}
