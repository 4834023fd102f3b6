import { mkdirSync } from "node:fs";
import { dirname } from "node:path";

import BetterSqlite3 from "better-sqlite3";
import { CompiledQuery, type DatabaseConnection, Kysely, SqliteAdapter, SqliteDialect, SqliteDriver } from "kysely";

import type { Tables } from "./schema.ts";

/** How long a write waits for another process that is writing, in milliseconds. */
const BUSY_TIMEOUT = 10_000;
/** Between two tries of what SQLite itself does not wait for, in milliseconds. */
const BUSY_PAUSE = 20;

/** Takes the write lock when the transaction begins, so that it waits there and never fails half way. */
class ImmediateDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
  }
}

/** SQLite's DDL is transactional: a migration runs under the write lock, whole or not at all. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class ImmediateDialect extends SqliteDialect {
  readonly #open: () => BetterSqlite3.Database;

  constructor(open: () => BetterSqlite3.Database) {
    super({ database: () => Promise.resolve(open()) });
    this.#open = open;
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter();
  }

  override createDriver(): SqliteDriver {
    return new ImmediateDriver({ database: () => Promise.resolve(this.#open()) });
  }
}

function open(file: string, readonly: boolean): BetterSqlite3.Database {
  const database = new BetterSqlite3(file, { readonly });
  database.pragma(`busy_timeout = ${BUSY_TIMEOUT.toString()}`);
  if (!readonly) {
    // WAL lets readers go on while one writes; FULL makes an answered write survive a power cut.
    switchToWal(database);
    database.pragma("synchronous = FULL");
    database.pragma("foreign_keys = ON");
  }
  return database;
}

/**
 * Turns a new file over to WAL. Of several processes that do so at once, SQLite answers some that the file is busy without
 * waiting, whatever the timeout says; by the next try the first of them is done, and there is nothing left to do.
 */
function switchToWal(database: BetterSqlite3.Database): void {
  const deadline = performance.now() + BUSY_TIMEOUT;
  for (;;) {
    try {
      database.pragma("journal_mode = WAL");
      return;
    } catch (error) {
      const busy = error instanceof BetterSqlite3.SqliteError && error.code.startsWith("SQLITE_BUSY");
      if (!busy || performance.now() > deadline) throw error;
      // Nothing of this process can go on before its database is open.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_PAUSE);
    }
  }
}

/** Two connections to one file: writes take turns on the first, reads never wait for them on the second. */
export function openSqlite(file: string): { writer: Kysely<Tables>; reader: () => Kysely<Tables> } {
  mkdirSync(dirname(file), { recursive: true });
  return {
    writer: new Kysely<Tables>({ dialect: new ImmediateDialect(() => open(file, false)) }),
    reader: () => new Kysely<Tables>({ dialect: new SqliteDialect({ database: open(file, true) }) }),
  };
}
