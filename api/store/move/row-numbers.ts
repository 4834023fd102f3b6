import { sql } from "kysely";

import { type Db, engineOf, type Trx } from "../db/engine.ts";
import type { TableShape } from "./tables.ts";

/**
 * The last row number that a table gave away, also to a row that was deleted later; 0 when it gave none. Row numbers are
 * never given twice, because cursors name them.
 */
export async function lastRowNumber(db: Db, table: TableShape): Promise<number> {
  if (table.rowNumber === null) return 0;
  const query =
    engineOf(db) === "sqlite"
      ? sql<{ last: number }>`select seq as last from sqlite_sequence where name = ${table.name}`
      : sql<{ last: number }>`
          select coalesce(pg_sequence_last_value(pg_get_serial_sequence(${table.name}, ${table.rowNumber})::regclass), 0) as last`;
  return (await query.execute(db)).rows[0]?.last ?? 0;
}

/** The next row gets the number after `last`. */
export async function continueRowNumbers(trx: Trx, table: TableShape, last: number): Promise<void> {
  if (table.rowNumber === null || last === 0) return;
  if (engineOf(trx) === "postgres") {
    await sql`select setval(pg_get_serial_sequence(${table.name}, ${table.rowNumber}), ${last})`.execute(trx);
    return;
  }
  await sql`delete from sqlite_sequence where name = ${table.name}`.execute(trx);
  await sql`insert into sqlite_sequence (name, seq) values (${table.name}, ${last})`.execute(trx);
}
