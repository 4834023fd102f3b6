import { accessSync, closeSync, constants, lstatSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";

import BetterSqlite3 from "better-sqlite3";
import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  type SqliteStatement,
} from "kysely";

import { BoundedMap } from "../../../shared/bounded-map.ts";
import { fileErrorReason, makeFolder } from "../../../shared/folder.ts";
import type { Metrics } from "../../../shared/metrics.ts";
import { DatabaseError, DatabaseMissing, DatabaseUnavailable } from "../errors.ts";
import type { Tables } from "../schema.ts";
import { timedStatements } from "../timed.ts";

/** Whether opening may create the database file. */
export type OpenMode = "create" | "existing";

/** How long a write waits for a writing process, in milliseconds. */
const BUSY_TIMEOUT = 10_000;
/** Pause between tries where SQLite does not wait by itself, in milliseconds. */
const BUSY_PAUSE = 20;
/**
 * Most memory for the pages that a reading connection keeps, in KiB. SQLite never takes more than the size of the file. A page of
 * a listing has rows from all over the file: with less, each of them reads the inner pages of the indexes again.
 */
const READ_CACHE = 65_536;
/** The same for a snapshot, which walks along an index: an export of 200,000 holders takes 40 MiB less, and as long. */
const SNAPSHOT_CACHE = 4_096;
/**
 * Once the write-ahead log has this many pages that the file lacks, they are copied into it (a checkpoint). This takes no turn at
 * writing: other connections commit meanwhile.
 */
const CHECKPOINT_PAGES = 1_000;
/**
 * Once the log has this many pages, a commit copies them before it returns. The log starts again only when a write finds all of
 * it copied. Without this limit, writes during each checkpoint would let it grow without a bound.
 */
const MOST_LOG_PAGES = 4_000;

/** Takes the write lock at the start of a transaction. So a transaction waits at its start and cannot fail half way. */
class ImmediateDriver extends SqliteDriver {
  readonly #file: string;

  constructor(database: BetterSqlite3.Database) {
    super({ database: cachingStatements(database) });
    this.#file = database.name;
  }

  /** @throws DatabaseUnavailable when another process holds the write lock for too long. */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await connection.executeQuery(CompiledQuery.raw("begin immediate"));
    } catch (error) {
      throw isBusy(error) ? lockedByOther(this.#file, error) : error;
    }
  }
}

/** SQLite's DDL is transactional: a migration runs under the write lock, whole or not at all. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class ImmediateDialect extends SqliteDialect {
  readonly #database: BetterSqlite3.Database;

  constructor(database: BetterSqlite3.Database) {
    super({ database: cachingStatements(database) });
    this.#database = database;
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter();
  }

  override createDriver(): SqliteDriver {
    return new ImmediateDriver(this.#database);
  }
}

/** @param cache of a reading connection, in KiB; null: the connection writes. */
function connect(file: string, cache: number | null): BetterSqlite3.Database {
  const database = new BetterSqlite3(file, { readonly: cache !== null, fileMustExist: true });
  try {
    database.pragma(`busy_timeout = ${BUSY_TIMEOUT.toString()}`);
    if (cache !== null) {
      database.pragma(`cache_size = -${cache.toString()}`);
    } else {
      // With WAL, reads continue during a write. With FULL, a committed write survives a power cut.
      switchToWal(database);
      database.pragma("synchronous = FULL");
      database.pragma(`wal_autocheckpoint = ${MOST_LOG_PAGES.toString()}`);
      database.pragma("foreign_keys = ON");
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Switches a new file to WAL. When several processes do so at once, SQLite answers "busy" to some of them immediately,
 * whatever the timeout is. At the next try the switch is done.
 */
function switchToWal(database: BetterSqlite3.Database): void {
  const deadline = performance.now() + BUSY_TIMEOUT;
  for (;;) {
    try {
      database.pragma("journal_mode = WAL");
      return;
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() > deadline) throw lockedByOther(database.name, error);
      // Blocking is fine: the process can do nothing before its database is open.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_PAUSE);
    }
  }
}

/** How the write-ahead log gets into the file. */
export interface Checkpoints {
  isDue: () => boolean;
  run: () => void;
}

function checkpointsOf(database: BetterSqlite3.Database): Checkpoints {
  const pages = (mode: "noop" | "passive") => {
    try {
      const [state] = database.pragma(`wal_checkpoint(${mode})`) as { log: number; checkpointed: number }[];
      return state === undefined ? 0 : state.log - state.checkpointed;
    } catch (error) {
      // As with SQLite's own checkpoints: what was committed is in the log, the next checkpoint tries again, and a disk that
      // is full or broken is an error of the next commit.
      if (error instanceof BetterSqlite3.SqliteError) return 0;
      throw error;
    }
  };
  return {
    isDue: () => pages("noop") >= CHECKPOINT_PAGES,
    run: () => {
      pages("passive");
    },
  };
}

interface SqliteReader {
  db: Kysely<Tables>;
  close: () => Promise<void>;
}

function openReader(file: string, cache: number, metrics: Pick<Metrics, "database"> | undefined): SqliteReader {
  const connection = explained(file, () => connect(file, cache));
  const dialect = new SqliteDialect({ database: cachingStatements(connection) });
  const db = new Kysely<Tables>({ dialect, ...timedStatements(metrics) });
  const close = async () => {
    await db.destroy();
    // Kysely leaves a connection open that was never used.
    connection.close();
  };
  return { db, close };
}

/**
 * Opens two connections to one file: one for writes, one for reads, so that reads never wait for writes.
 * @throws DatabaseError
 */
export function openSqlite(
  file: string,
  mode: OpenMode,
  metrics?: Pick<Metrics, "database">,
): {
  writer: Kysely<Tables>;
  checkpoints: Checkpoints;
  reader: () => SqliteReader;
  snapshotReader: () => SqliteReader;
} {
  return explained(file, () => {
    if (mode === "create") createFile(file);
    else requireFile(file);
    const connection = connect(file, null);
    const writer = new Kysely<Tables>({ dialect: new ImmediateDialect(connection), ...timedStatements(metrics) });
    return {
      writer,
      checkpoints: checkpointsOf(connection),
      reader: () => openReader(file, READ_CACHE, metrics),
      snapshotReader: () => openReader(file, SNAPSHOT_CACHE, metrics),
    };
  });
}

/**
 * Creates the file, and its folder, for this user only; SQLite gives `-wal` and `-shm` the mode of the file. A file that
 * exists is not opened here: closing it would drop the locks that other connections of this process hold on it.
 */
function createFile(file: string): void {
  makeFolder(dirname(file));
  try {
    closeSync(openSync(file, constants.O_CREAT | constants.O_EXCL | constants.O_RDWR, 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    requireFile(file);
  }
}

function requireFile(file: string): void {
  const status = statSync(file, { throwIfNoEntry: false });
  if (status === undefined) throw new DatabaseMissing(file);
  if (status.isDirectory()) throw unusable(file, "it is a folder, not a file");
  accessSync(file, constants.R_OK | constants.W_OK);
}

/** Explanations of SQLite's error codes, by the first part of the code (`SQLITE_READONLY_DIRECTORY`: `READONLY`). */
const REASONS: Readonly<Record<string, string>> = {
  CANTOPEN: "SQLite cannot open it",
  NOTADB: "it is not a SQLite database",
  CORRUPT: "it is damaged; restore a backup",
  READONLY: "it is read-only",
  PERM: "this user has no permission",
  FULL: "the disk is full",
  IOERR: "the disk reports an error",
};

function explained<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof DatabaseError) throw error;
    const code = error instanceof BetterSqlite3.SqliteError ? error.code : null;
    const reason = code === null ? fileErrorReason(error) : REASONS[code.split("_")[1] ?? ""];
    throw reason == null ? error : unusable(file, code === null ? reason : `${reason} (${code})`, error);
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof BetterSqlite3.SqliteError && error.code.startsWith("SQLITE_BUSY");
}

function lockedByOther(file: string, cause: unknown): DatabaseUnavailable {
  const seconds = (BUSY_TIMEOUT / 1000).toString();
  return new DatabaseUnavailable(
    `Another process has held the write lock of the database ${file} for more than ${seconds} seconds. It may be ` +
      "paused, or a program such as the sqlite3 shell may have left a transaction open. Stop that process or wait until " +
      "it ends, then try again.",
    { cause },
  );
}

function unusable(file: string, reason: string, cause?: unknown): DatabaseError {
  return new DatabaseError(
    `Cannot open the database ${file}: ${reason}. Set DATA_DIR (or DATABASE_URL) to a place that this user may write to.`,
    { cause },
  );
}

/** Statements kept per connection: at least this many, those that were used last, and at most twice as many. */
const STATEMENTS = 250;

/** A connection that prepares each statement once and uses it again: preparing costs more than running most of them. */
export function cachingStatements(database: BetterSqlite3.Database): SqliteDatabase {
  const statements = new BoundedMap<string, SqliteStatement>(STATEMENTS);
  return {
    prepare(sql: string): SqliteStatement {
      const known = statements.get(sql);
      if (known !== undefined) return known;
      const statement = database.prepare(sql);
      statements.set(sql, statement);
      return statement;
    },
    close: () => {
      statements.clear();
      database.close();
    },
  };
}

/** Thrown when the file cannot be a lock. */
export class FileLockError extends Error {
  override readonly name = "FileLockError";
}

/**
 * Takes a lock that the operating system releases when the process ends, in whatever way. The file stays empty and is never
 * removed: a process that removed it could let two others in.
 * @returns what releases it, or null when another process holds it. @throws FileLockError
 */
export function lockFile(path: string): (() => void) | null {
  refuseOtherFile(path);
  let connection: BetterSqlite3.Database | null = null;
  try {
    connection = new BetterSqlite3(path, { timeout: 0 });
    connection.exec("begin exclusive");
  } catch (error) {
    connection?.close();
    if (!(error instanceof BetterSqlite3.SqliteError)) throw error;
    if (error.code.startsWith("SQLITE_BUSY")) return null;
    throw new FileLockError(`Cannot lock ${path}: ${error.message} (${error.code}).`, { cause: error });
  }
  const held = connection;
  return () => {
    held.close();
  };
}

/** A folder from others may have a link, or a database, in place of the lock. */
function refuseOtherFile(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || (found.isFile() && found.size === 0)) return;
  throw new FileLockError(`${path} is not an empty file, so it cannot be a lock. Delete it and run the command again.`);
}
