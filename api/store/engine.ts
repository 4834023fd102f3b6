import { type Kysely, SqliteAdapter, type Transaction } from "kysely";

import type { Tables } from "./schema.ts";

export type Engine = "sqlite" | "postgres";

/** Reads the tables: a connection of its own, or the transaction of a write. */
export type Db = Kysely<Tables>;
/** The open transaction of a write. Never await anything but the database inside. */
export type Trx = Transaction<Tables>;

export function engineOf(db: Kysely<never> | Kysely<unknown> | Db): Engine {
  return db.getExecutor().adapter instanceof SqliteAdapter ? "sqlite" : "postgres";
}
