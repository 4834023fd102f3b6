import {
  AbortedTransactionError,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresDialect,
  sql,
  type TransactionSettings,
} from "kysely";
import type pg from "pg";

import type { Db } from "./engine.ts";
import { NamedStatements, Session } from "./named-statements.ts";
import { PostgresConnection, STATEMENT_TIMEOUT } from "./postgres-connection.ts";
import { connectionProblem, explainedAtCommit } from "./postgres-errors.ts";

/** The server ends a transaction that waits so long for its client, in milliseconds: a frozen process must not hold locks. */
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
function processOf(client: pg.PoolClient): number | undefined {
  return (client as { processID?: number }).processID;
}

/** Kysely's connections, taken from a pool of `pg`. */
class PostgresDriver implements Driver {
  readonly #pool: pg.Pool;
  readonly #statements = new NamedStatements();
  readonly #sessions = new WeakMap<pg.PoolClient, Session>();
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
    for (;;) {
      const client = await this.#connect();
      const known = this.#sessions.get(client);
      if (known === undefined || known.isCurrent) return this.#ready(client, known);
      client.release(true);
    }
  }

  async #ready(client: pg.PoolClient, known: Session | undefined): Promise<PostgresConnection> {
    const session = known ?? new Session(this.#statements);
    const connection = new PostgresConnection(client, session);
    try {
      if (known === undefined) {
        const answer = await connection.answerTo(NEW_CONNECTION);
        session.isDirect = (answer?.rows[0] as { process: number } | undefined)?.process === processOf(client);
        this.#sessions.set(client, session);
      } else if (session.takeOldPlans()) await connection.command("discard plans");
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
