import { sql } from "kysely";

import type { TokenMetadata } from "../../domain/command.ts";
import { rowsAfter } from "../db/pages.ts";
import type { Db, Trx } from "../db/sql.ts";
import { confirmedBlock } from "../db/meta.ts";
import { toTokenMetadata } from "../listings/nfts.ts";

/** Values of `collections.metadata_frozen`. */
const OPEN = 0;
export const FREEZING = 1;
export const FROZEN = 2;

/** Tokens read at once. */
const PAGE = 500;

/** Closes the metadata to changes and additions. @returns false when it was closed already. */
export async function startFreezing(trx: Trx, collection: string): Promise<boolean> {
  const updated = await trx
    .updateTable("collections")
    .set({ metadata_frozen: FREEZING })
    .where("address", "=", collection)
    .where("metadata_frozen", "=", OPEN)
    .executeTakeFirst();
  return updated.numUpdatedRows === 1n;
}

/** Opens the metadata again after a failed freeze. */
export async function stopFreezing(trx: Trx, collection: string): Promise<void> {
  await trx
    .updateTable("collections")
    .set({ metadata_frozen: OPEN })
    .where("address", "=", collection)
    .where("metadata_frozen", "=", FREEZING)
    .execute();
}

/** How an answer names the state of a collection's metadata. */
export function metadataFrozen({ metadata_frozen: state }: { metadata_frozen: number }): "no" | "pending" | "yes" {
  return state === OPEN ? "no" : state === FREEZING ? "pending" : "yes";
}

/** Whether a collection that exists can still change its metadata, or add to it. */
export function isOpen(collection: { metadata_frozen: number } | undefined): boolean {
  return collection?.metadata_frozen === OPEN;
}

/** Whether the metadata is open to changes and additions. */
export async function isMetadataOpen(db: Db, collection: string): Promise<boolean> {
  const row = await db
    .selectFrom("collections")
    .select("metadata_frozen")
    .where("address", "=", collection)
    .executeTakeFirst();
  return isOpen(row);
}

/** Whether mints from before the freeze are not final. Until then it is open which id belongs to which metadata. */
export async function hasUnsettledMints(db: Db, collection: string): Promise<boolean> {
  const reserved = await db
    .selectFrom("collections")
    .select("reserved")
    .where("address", "=", collection)
    .where("reserved", ">", 0)
    .executeTakeFirst();
  if (reserved !== undefined) return true;
  const unminted = await db
    .selectFrom("nfts")
    .select("seq")
    .where("contract", "=", collection)
    .where("minted_block", "is", null)
    .limit(1)
    .executeTakeFirst();
  if (unminted !== undefined) return true;
  // Read by block, not by collection: few blocks are not final yet, but a collection can have millions of tokens.
  const minted = await db
    .selectFrom("nfts")
    .select("contract")
    .where("minted_block", ">", await confirmedBlock(db))
    .execute();
  return minted.some(({ contract }) => contract === collection);
}

/** Tokens with hosted metadata, without burnt ones, in the order of their creation. */
export async function* hostedTokens(
  db: Db,
  collection: string,
): AsyncGenerator<{ token_id: string; metadata: TokenMetadata }> {
  const read = (after: number) =>
    db
      .selectFrom("nfts")
      .select(["seq", "token_id", "metadata"])
      .where("contract", "=", collection)
      .where("minted_block", "is not", null)
      // A literal, not a parameter, so that the partial index is used.
      .where("supply", "<>", sql.lit("0"))
      .where("seq", ">", after)
      .orderBy("seq")
      .limit(PAGE)
      .execute();
  for await (const { token_id, metadata: text } of rowsAfter(0, read, ({ seq }) => seq)) {
    const metadata = toTokenMetadata(text);
    if (metadata !== null) yield { token_id, metadata };
  }
}
