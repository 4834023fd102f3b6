import { createHash } from "node:crypto";

import {
  AbortedTransactionError,
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresDialect,
  type QueryResult,
  sql,
  type TransactionSettings,
} from "kysely";
import type pg from "pg";

import { BoundedMap } from "../../../shared/bounded-map.ts";
import {
  codeOf,
  connectionProblem,
  DatabaseUnavailable,
  explainedAtCommit,
  explainedAtRun,
  isOfServer,
  StatementLost,
} from "../errors.ts";
import { storableText } from "../sql.ts";
import type { Db } from "../sql.ts";

/*
 * A statement with a name is parsed once for each connection, and PostgreSQL may use its plan again. That takes less than half
 * of the time of a short statement. The name belongs to the connection of the server, so a pooler that gives each transaction
 * another one must not see names.
 */

/** A text gets a name at this use. Texts that are made for one use, such as lists of values, get none. */
const NAMED_AT_USE = 5;
/** Most names. For each, the server keeps the parsed statement and its plan in each connection: about 70 kB. */
const MAX_NAMED = 150;
/** Texts without a name whose uses are counted. */
const COUNTED = 500;
/** Longer texts get no name. */
const LONGEST_TEXT = 10_000;
/**
 * How long plans are kept, in milliseconds. A plan that was made while a table was small may read it from end to end. The
 * server makes it again when it has analyzed the table, which may be a minute later: too late when thousands of rows come at
 * once.
 */
const PLANS_KEPT = 5_000;

/** The statement does not exist, or exists already: the connection is not the one that it was prepared on. */
const OF_ANOTHER_CONNECTION = ["26000", "42P05"];
/** The columns of its result are not those for which it was prepared: a table was altered. */
const CHANGED_RESULT = { code: "0A000", routine: "RevalidateCachedQuery" };

/** Whether the server refused to run a statement because of its name. Nothing of it has run. */
export function isStatementLost(error: unknown): boolean {
  const code = codeOf(error);
  if (OF_ANOTHER_CONNECTION.includes(code)) return true;
  return isOfServer(error) && code === CHANGED_RESULT.code && error.routine === CHANGED_RESULT.routine;
}

/** The statements that the connections of a pool prepare. */
export class NamedStatements {
  readonly #names = new Map<string, string>();
  readonly #uses = new BoundedMap<string, number>(COUNTED);
  #usable = true;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;

  constructor(now = () => performance.now()) {
    this.now = now;
  }

  /** @returns undefined: run it without a name. */
  nameOf(text: string): string | undefined {
    if (!this.#usable) return undefined;
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    if (this.#names.size === MAX_NAMED || text.length > LONGEST_TEXT) return undefined;
    const uses = (this.#uses.get(text) ?? 0) + 1;
    if (uses < NAMED_AT_USE) {
      this.#uses.set(text, uses);
      return undefined;
    }
    // The name follows from the text, so no name ever stands for two statements.
    const name = `m_${createHash("sha256").update(text).digest("hex").slice(0, 32)}`;
    this.#uses.delete(text);
    this.#names.set(text, name);
    return name;
  }

  /** A connection does not have its statements, or not with their columns: without names it cannot do any harm. */
  lose(): void {
    this.#usable = false;
  }
}

/** Longest time of one statement, in milliseconds. The server ends it then. */
const STATEMENT_TIMEOUT = 60_000;
/** A statement that is not answered by then has lost its connection, in milliseconds. */
export const ANSWER_TIMEOUT = STATEMENT_TIMEOUT + 10_000;

/** One connection of the pool. */
export class PostgresConnection implements DatabaseConnection {
  readonly client: pg.PoolClient;
  readonly #statements: NamedStatements;
  /** Whether it leads to the server itself, not to a pooler. */
  #isDirect = false;
  /** When the oldest plan was made that the server may keep for it. */
  #plannedAt: number | null = null;
  inTransaction = false;
  /** Whether it must be closed, because its state is not known. */
  broken = false;

  constructor(client: pg.PoolClient, statements: NamedStatements) {
    this.client = client;
    this.#statements = statements;
  }

  /** Makes the settings of a new connection. */
  async begin(): Promise<void> {
    const answer = await this.#answerTo(NEW_CONNECTION);
    this.#isDirect = (answer?.rows[0] as { process: number } | undefined)?.process === processOf(this.client);
  }

  /** Has the server forget plans that are old. */
  async forgetOldPlans(): Promise<void> {
    if (this.#plannedAt === null || this.#statements.now() - this.#plannedAt < PLANS_KEPT) return;
    this.#plannedAt = null;
    await this.command("discard plans");
  }

  #nameOf(text: string): string | undefined {
    const name = this.#isDirect ? this.#statements.nameOf(text) : undefined;
    if (name !== undefined) this.#plannedAt ??= this.#statements.now();
    return name;
  }

  async executeQuery<R>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const values = parameters.map((value) => (typeof value === "string" ? storableText(value) : value));
    const name = values.length === 0 ? undefined : this.#nameOf(text);
    const { command, rowCount, rows } = await this.#run<R & pg.QueryResultRow>({ name, text, values });
    const changes = ["INSERT", "UPDATE", "DELETE", "MERGE"].includes(command);
    return changes ? { rows, numAffectedRows: BigInt(rowCount ?? 0) } : { rows };
  }

  async #run<R extends pg.QueryResultRow>({ name, text, values = [] }: pg.QueryConfig): Promise<pg.QueryResult<R>> {
    try {
      return await this.#answered(this.client.query<R>({ name, text, values }));
    } catch (error) {
      if (name === undefined || !isStatementLost(error)) throw error;
      this.#statements.lose();
      this.broken = true;
      // The server has ended the transaction.
      if (this.inTransaction) throw new StatementLost(error);
      return this.#answered(this.client.query<R>({ text, values }));
    }
  }

  /** Runs statements without parameters, in one message. */
  async command(text: string): Promise<string> {
    return (await this.#answerTo(text))?.command ?? "";
  }

  /** The answer to the last of several statements without parameters. */
  async #answerTo(text: string): Promise<pg.QueryResult | undefined> {
    // `pg` answers several statements with several results, which its types do not say.
    const answer = (await this.#answered(this.client.query(text))) as pg.QueryResult | pg.QueryResult[];
    return Array.isArray(answer) ? answer.at(-1) : answer;
  }

  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    await Promise.reject(new Error("streaming is not supported"));
  }

  async #answered<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      const explained = explainedAtRun(error);
      // An answer may still come.
      this.broken ||= explained instanceof DatabaseUnavailable;
      throw explained;
    }
  }
}

/** The server ends a transaction that waits this long for its client, in milliseconds: a frozen process must not hold locks. */
const IDLE_TIMEOUT = 30_000;
/** Longest wait for the server to close its ends of the connections when the pool is closed, in milliseconds. */
const CLOSE_TIMEOUT = 3_000;

/*
 * A pooler in transaction mode (PgBouncer) may give each transaction another server connection. So a transaction brings its
 * settings along, in the message that begins it. The settings of a connection are for statements outside of transactions;
 * behind a pooler they may be missing there, which costs the time limit only.
 */
const SETTINGS = [
  `statement_timeout = ${STATEMENT_TIMEOUT.toString()}`,
  `idle_in_transaction_session_timeout = ${IDLE_TIMEOUT.toString()}`,
  "timezone = 'UTC'",
  // Compiling a statement takes longer than running any of the service's.
  "jit = off",
];
const OF_CONNECTION = [...SETTINGS, "default_transaction_isolation = 'read committed'"];
/** The last answer tells the process of the server that runs the statements. */
const NEW_CONNECTION = [...OF_CONNECTION.map((setting) => `set ${setting}`), "select pg_backend_pid() as process"].join(
  "; ",
);

/** The process of the server that a connection was given at its start. A pooler gives another number. */
export function processOf(client: pg.PoolClient): number | undefined {
  return (client as { processID?: number }).processID;
}

/** Kysely's connections, taken from a pool of `pg`. */
class PostgresDriver implements Driver {
  readonly #pool: pg.Pool;
  readonly #statements = new NamedStatements();
  readonly #connections = new WeakMap<pg.PoolClient, PostgresConnection>();
  /** Connections that the server has not closed yet. */
  readonly #open = new Set<pg.PoolClient>();
  #allClosed: (() => void) | null = null;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
    pool.on("connect", (client) => this.#open.add(client));
    // The pool reports this when the connection is closed on both sides.
    pool.on("remove", (client) => {
      this.#open.delete(client);
      if (this.#open.size === 0) this.#allClosed?.();
    });
  }

  async init(): Promise<void> {
    // Connections are opened when they are needed.
  }

  async acquireConnection(): Promise<PostgresConnection> {
    const client = await this.#connect();
    const known = this.#connections.get(client);
    const connection = known ?? new PostgresConnection(client, this.#statements);
    try {
      await (known === undefined ? connection.begin() : connection.forgetOldPlans());
      this.#connections.set(client, connection);
      return connection;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  async #connect(): Promise<pg.PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      // Whatever the reason is, statements cannot run. Later ones try again.
      throw connectionProblem(error instanceof Error ? error.message : String(error), error);
    }
  }

  async beginTransaction(connection: PostgresConnection, settings: TransactionSettings): Promise<void> {
    const begin = `begin isolation level ${settings.isolationLevel ?? "read committed"}`;
    try {
      await connection.command([begin, ...SETTINGS.map((setting) => `set local ${setting}`)].join("; "));
      connection.inTransaction = true;
    } catch (error) {
      connection.broken = true;
      throw error;
    }
  }

  /** @throws DatabaseUnavailable when the connection was lost: then nobody knows whether the transaction was committed. */
  async commitTransaction(connection: PostgresConnection): Promise<void> {
    connection.inTransaction = false;
    // After a failed statement, PostgreSQL answers a commit with a rollback.
    const answer = await connection.command("commit").catch((error: unknown) => {
      throw explainedAtCommit(error);
    });
    if (answer === "ROLLBACK") throw new AbortedTransactionError();
  }

  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    connection.inTransaction = false;
    // A server that did not answer the statement does not answer this either. Closing the connection ends the transaction.
    if (connection.broken) return;
    try {
      await connection.command("rollback");
    } catch {
      // Without a connection there is no transaction either. The caller throws the first error, which is the cause.
      connection.broken = true;
    }
  }

  releaseConnection(connection: PostgresConnection): Promise<void> {
    connection.client.release(connection.broken);
    return Promise.resolve();
  }

  /**
   * Returns when the server has closed the connections too. So whoever waits for the end of the service may drop, copy or
   * restore the database at once. The pool itself does not wait for that.
   */
  async destroy(): Promise<void> {
    await this.#pool.end();
    if (this.#open.size === 0) return;
    await new Promise<void>((resolve) => {
      // A server that does not answer must not keep this process running.
      const timer = setTimeout(resolve, CLOSE_TIMEOUT);
      this.#allClosed = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Locks migrations for a transaction. Kysely's own lock belongs to the session, which a pooler may give to others. */
class TransactionLockAdapter extends PostgresAdapter {
  override async acquireMigrationLock(db: Kysely<unknown>): Promise<void> {
    await lockMigrations(db);
  }

  override releaseMigrationLock(): Promise<void> {
    // The end of the transaction releases it.
    return Promise.resolve();
  }
}

/** Any number that no other program uses for an advisory lock of the same database. */
const MIGRATION_LOCK = 7_215_604_318;

/** Waits until no other process migrates, and keeps others out until the end of the transaction. */
export async function lockMigrations(db: Db | Kysely<unknown>): Promise<void> {
  // Another process may migrate for longer than a statement may run.
  await sql`set local statement_timeout = 0`.execute(db);
  await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(db);
}

/** Kysely's dialect over a pool. */
export class PooledPostgresDialect extends PostgresDialect {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    super({ pool });
    this.#pool = pool;
  }

  override createAdapter(): PostgresAdapter {
    return new TransactionLockAdapter();
  }

  override createDriver(): Driver {
    return new PostgresDriver(this.#pool);
  }
}
