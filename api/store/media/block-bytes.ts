import { sql } from "kysely";

import type { Db, Trx } from "../db/engine.ts";
import { rowSet } from "../db/row-set.ts";

/** The bytes of blocks in the database itself, one row for each object. */
export async function insertBytes(trx: Trx, object: string, bytes: Uint8Array): Promise<void> {
  await trx
    .insertInto("media_bytes")
    .values({ object, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) })
    .execute();
}

export async function readBytes(db: Db, object: string): Promise<Uint8Array | null> {
  const row = await db.selectFrom("media_bytes").select("bytes").where("object", "=", object).executeTakeFirst();
  return row?.bytes ?? null;
}

export async function deleteBytes(trx: Trx, objects: readonly string[]): Promise<void> {
  const rows = objects.map((object) => ({ object }));
  await sql`
    delete from media_bytes
     where object in (select object from ${rowSet(trx, { object: "text" }, rows)} as input)`.execute(trx);
}
