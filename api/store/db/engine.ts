import { type Kysely, SqliteAdapter, type Transaction } from "kysely";

import type { Tables } from "./schema.ts";

export type Engine = "sqlite" | "postgres";

/** Reads the tables, through a read connection or inside the transaction of a write. */
export type Db = Kysely<Tables>;
/** The open transaction of a write. Never await anything but the database inside. */
export type Trx = Transaction<Tables>;

/** Runs several reads on one snapshot. */
export function inSnapshot<T>(db: Db, read: (db: Db) => Promise<T>): Promise<T> {
  const transaction = db.transaction();
  // On SQLite every transaction reads from a snapshot.
  return (engineOf(db) === "postgres" ? transaction.setIsolationLevel("repeatable read") : transaction).execute(read);
}

export function engineOf(db: Kysely<never> | Kysely<unknown> | Db): Engine {
  return db.getExecutor().adapter instanceof SqliteAdapter ? "sqlite" : "postgres";
}
