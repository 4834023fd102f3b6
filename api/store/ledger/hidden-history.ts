import { sql } from "kysely";

import { deleteMeta, readMeta, writeMeta } from "../db/meta.ts";
import type { Db, Trx } from "../db/sql.ts";

/*
 * The newest entries of the history can be hidden: those of a block that is stored or removed in several commits, because one
 * commit would hold up the writes of others. No listing and no total has them. The number of the first hidden row is in `meta`.
 * Numbers are never given twice, so it also tells whether the rows are still those of the process that began the block.
 */

/** The first hidden row; null: nothing is hidden. */
export async function hiddenFrom(db: Db): Promise<number | null> {
  const stored = await readMeta(db, "history_hidden_from");
  return stored === null ? null : Number(stored);
}

export async function hideFrom(trx: Trx, id: number): Promise<void> {
  await writeMeta(trx, "history_hidden_from", id.toString());
}

/** Shows what is hidden, in the commit that stores everything else of its block. */
export async function showHidden(trx: Trx): Promise<void> {
  await deleteMeta(trx, "history_hidden_from");
}

/** Removes the newest hidden rows, by default all. @returns whether there are more. */
export async function removeHidden(trx: Trx, most = Number.MAX_SAFE_INTEGER): Promise<boolean> {
  const first = await hiddenFrom(trx);
  if (first === null) return false;
  const newest = sql`select id from transfers where id >= ${first} order by id desc limit ${most}`;
  // Deleted before the rows that they refer to: the database would look for those of each row.
  await sql`delete from wallet_history where transfer_id in (${newest})`.execute(trx);
  const { numAffectedRows: removed = 0n } = await sql`delete from transfers where id in (${newest})`.execute(trx);
  if (removed === BigInt(most)) return true;
  await showHidden(trx);
  return false;
}
