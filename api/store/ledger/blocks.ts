import { readMeta } from "../db/meta.ts";
import type { BlockRow } from "../db/schema.ts";
import type { Db, Trx } from "../db/sql.ts";

export async function storedBlock(db: Db, number: number): Promise<BlockRow | undefined> {
  return db.selectFrom("blocks").selectAll().where("number", "=", number).executeTakeFirst();
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
  if (blocks.length > 0) await trx.insertInto("blocks").values(blocks).execute();
  await trx.deleteFrom("blocks").where("number", "<", forgetBefore).execute();
}

/** The last block whose logs are stored. */
export async function checkpointOf(db: Db): Promise<number> {
  return Number((await readMeta(db, "checkpoint")) ?? 0);
}
