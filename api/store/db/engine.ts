import { type Kysely, SqliteAdapter, type Transaction } from "kysely";

import type { Tables } from "./schema.ts";

export type Engine = "sqlite" | "postgres";

/** Reads the tables: a connection of its own, or the transaction of a write. */
export type Db = Kysely<Tables>;
/** The open transaction of a write. Never await anything but the database inside. */
export type Trx = Transaction<Tables>;

/** Reads several times, all of it as it was at one moment. */
export function inSnapshot<T>(db: Db, read: (db: Db) => Promise<T>): Promise<T> {
  const transaction = db.transaction();
  // A transaction of SQLite is one by itself.
  return (engineOf(db) === "postgres" ? transaction.setIsolationLevel("repeatable read") : transaction).execute(read);
}

export function engineOf(db: Kysely<never> | Kysely<unknown> | Db): Engine {
  return db.getExecutor().adapter instanceof SqliteAdapter ? "sqlite" : "postgres";
}
