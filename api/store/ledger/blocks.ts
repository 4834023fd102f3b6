import type { Db } from "../db/engine.ts";
import type { BlockRow } from "../db/schema.ts";

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
