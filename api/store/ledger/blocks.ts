import { sql } from "kysely";

import { readMeta } from "../db/meta.ts";
import type { BlockRow } from "../db/schema.ts";
import { type Db, rowSet, type Trx } from "../db/sql.ts";

export async function storedBlock(db: Db, number: number): Promise<BlockRow | undefined> {
  return db.selectFrom("blocks").selectAll().where("number", "=", number).executeTakeFirst();
}

/** Whether blocks continue the stored ones: the block before them has the hash of their parent, or no block is stored there. */
export async function continuesStored(db: Db, blocks: { from: number; parentHash: string }): Promise<boolean> {
  const previous = await storedBlock(db, blocks.from - 1);
  return previous === undefined || previous.hash === blocks.parentHash;
}

/** Stored headers, newest first. */
export async function newestBlocks(db: Db, limit: number, below: number): Promise<BlockRow[]> {
  return db
    .selectFrom("blocks")
    .selectAll()
    .where("number", "<", below)
    .orderBy("number", "desc")
    .limit(limit)
    .execute();
}

/** Stores the headers of new blocks, and forgets those that no reorg can reach. */
export async function rememberBlocks(trx: Trx, blocks: BlockRow[], forgetBefore: number): Promise<void> {
  if (blocks.length > 0) {
    const columns = { number: "integer", hash: "text", parent_hash: "text", timestamp: "integer" } as const;
    await sql`
      insert into blocks (number, hash, parent_hash, timestamp)
      select number, hash, parent_hash, timestamp from ${rowSet(trx, columns, blocks)} as input`.execute(trx);
  }
  await trx.deleteFrom("blocks").where("number", "<", forgetBefore).execute();
}

/**
 * Up to which block the nodes have agreed. Everything that is final was agreed, so this needs no value of its own: far behind
 * the head, `confirmed_block` is above the checkpoint, and all that is stored is final.
 */
export async function agreedBlock(db: Db, checkpoint: number): Promise<number> {
  return Math.min(Number((await readMeta(db, "confirmed_block")) ?? checkpoint), checkpoint);
}

/** Whether something waits for its block to become final: an outcome, or a transaction that no block is known to have. */
export async function isAnythingUndecided(db: Db): Promise<boolean> {
  const { rows } = await sql<{ found: number }>`
    select 1 as found where exists (select 1 from requests where outcome is not null)
                         or exists (select 1 from batches where status = 'open')`.execute(db);
  return rows.length > 0;
}

/** The first block up to this one with an outcome that is not settled: a failure that waits for a second node. Null: none. */
export async function firstUnsettled(db: Db, upTo: number): Promise<number | null> {
  const row = await db
    .selectFrom("requests")
    .select("block_number")
    .where("outcome", "is not", null)
    .where("block_number", "<=", upTo)
    .orderBy("block_number")
    .limit(1)
    .executeTakeFirst();
  return row?.block_number ?? null;
}
