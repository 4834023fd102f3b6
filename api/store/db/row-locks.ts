import { type RawBuilder, sql } from "kysely";

import { type Db, engineOf } from "./engine.ts";

/*
 * Endings of a `select` that lock the rows it reads until the end of the transaction. With Kysely's builder:
 * `search.modifyEnd(forUpdate(trx))`. SQLite has one writer and needs no lock.
 */

/** For a change that depends on the rows. */
export function forUpdate(db: Db): RawBuilder<unknown> {
  return ending(db, sql`for update`);
}

/** For rows that the transaction does not change but that must stay as they are until its end. */
export function forShare(db: Db): RawBuilder<unknown> {
  return ending(db, sql`for share`);
}

/** For one decision at a time about the rows. References from other rows (`forKeyShare`) do not wait for it. */
export function forNoKeyUpdate(db: Db): RawBuilder<unknown> {
  return ending(db, sql`for no key update`);
}

/** For rows that only must not be deleted. */
export function forKeyShare(db: Db): RawBuilder<unknown> {
  return ending(db, sql`for key share`);
}

/** As `forUpdate`, for the rows of one table of a join. @param table the table, or its alias. */
export function forUpdateOf(db: Db, table: string): RawBuilder<unknown> {
  return ending(db, sql`for update of ${sql.ref(table)}`);
}

/**
 * To take work that other processes may be taking at the same time: passes over the rows that they have locked. A row that
 * another process has taken in the meantime is checked again after it is locked, against the conditions on its own columns
 * only. So one of these conditions must say that the row is still free.
 * @param table the table, or its alias, whose rows are taken.
 */
export function forUpdateSkipLocked(db: Db, table: string): RawBuilder<unknown> {
  return ending(db, sql`for update of ${sql.ref(table)} skip locked`);
}

function ending(db: Db, lock: RawBuilder<unknown>): RawBuilder<unknown> {
  return engineOf(db) === "postgres" ? lock : sql``;
}
