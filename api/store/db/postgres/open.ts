import { Kysely, sql } from "kysely";
import pg from "pg";

import type { Metrics } from "../../../shared/metrics.ts";
import { DatabaseError, DatabaseMissing, databaseName, explainedAtOpen } from "../errors.ts";
import { ANSWER_TIMEOUT, PooledPostgresDialect, processOf } from "./driver.ts";
import type { Tables } from "../schema.ts";
import type { OpenMode } from "../sqlite/sqlite.ts";
import { timedStatements } from "../timed.ts";

/** The oldest version that the tests run on. */
const OLDEST_VERSION = 15;
/** Longest wait for a connection: a new one, or a free one of the pool. In milliseconds. */
const CONNECT_TIMEOUT = 10_000;
/** A connection that nobody used for this long is closed, in milliseconds. */
const IDLE_CONNECTION = 60_000;

/** Type ids of PostgreSQL. */
const BOOL = 16;
const INT8 = 20;
const NUMERIC = 1700;

const PARSERS: Readonly<Record<number, (text: string) => number>> = {
  // SQLite answers 1 or 0.
  [BOOL]: (text) => (text === "t" ? 1 : 0),
  [INT8]: exactNumber,
  [NUMERIC]: exactNumber,
};

/** How values of answers become JavaScript values. Given to a pool, so other pools of the process keep their own. */
const ANSWER_TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    (format === "binary" ? undefined : PARSERS[oid]) ?? (pg.types.getTypeParser(oid, format) as unknown),
};

/** @throws RangeError when the number would be rounded. */
function exactNumber(text: string): number {
  const value = Number(text);
  if (/^-?\d+$/.test(text) && !Number.isSafeInteger(value)) {
    throw new RangeError(`The database answered ${text}. Numbers beyond 2^53 would be rounded.`);
  }
  return value;
}

interface PostgresOptions {
  /** Most connections. */
  connections: number;
  /** Called when a connection is lost. The statement on it, if any, fails; later ones use a new connection. */
  onConnectionLost?: ((error: Error) => void) | undefined;
  metrics?: Pick<Metrics, "database"> | undefined;
  /** Whether it refuses a URL that leads to a pooler, which hides from the server who has the database open. */
  refusesPooler?: boolean;
}

/**
 * Opens a pool of connections, after one of them has shown that the database can be used.
 * @throws DatabaseError
 */
export async function openPostgres(url: string, mode: OpenMode, options: PostgresOptions): Promise<Kysely<Tables>> {
  const pool = createPool(url, options);
  const db = new Kysely<Tables>({
    dialect: new PooledPostgresDialect(pool),
    ...timedStatements(options.metrics),
  });
  try {
    await requireVersion(db);
    if (options.refusesPooler === true) await requireServer(pool, databaseName(url));
    if (mode === "existing") await requireTables(db, databaseName(url));
    return db;
  } catch (error) {
    await db.destroy();
    throw explainedAtOpen(databaseName(url), error);
  }
}

function createPool(url: string, { connections, onConnectionLost }: PostgresOptions): pg.Pool {
  const pool = new pg.Pool({
    // First, so that the URL may say otherwise.
    application_name: "moneta",
    connectionString: url,
    max: connections,
    types: ANSWER_TYPES,
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    query_timeout: ANSWER_TIMEOUT,
    idleTimeoutMillis: IDLE_CONNECTION,
    keepAlive: true,
  });
  // Without listeners, a lost connection would end the process: `pg` reports it on the pool while the connection is idle,
  // and on the connection itself while it is in use.
  const lost = (error: Error) => onConnectionLost?.(error);
  pool.on("error", lost);
  pool.on("connect", (client) => client.on("error", lost));
  return pool;
}

async function requireVersion(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ number: number; name: string }>`
    select current_setting('server_version_num')::int as number, current_setting('server_version') as name`.execute(db);
  const [version] = rows;
  if (version === undefined || Math.floor(version.number / 10_000) >= OLDEST_VERSION) return;
  throw new DatabaseError(
    `The database server is PostgreSQL ${version.name}. Moneta needs version ${OLDEST_VERSION.toString()} or newer.`,
  );
}

async function requireServer(pool: pg.Pool, name: string): Promise<void> {
  const client = await pool.connect();
  try {
    const { rows } = await client.query<{ process: number }>("select pg_backend_pid() as process");
    if (rows[0]?.process === processOf(client)) return;
  } finally {
    client.release();
  }
  throw new DatabaseError(
    `The URL of the database ${name} leads to a pooler such as PgBouncer, which hides whether a process of the service has it ` +
      "open. Set DATABASE_URL to the address of the server itself. Nothing was changed.",
  );
}

async function requireTables(db: Kysely<Tables>, name: string): Promise<void> {
  const { rows } = await sql<{ found: number }>`select to_regclass('meta') is not null as found`.execute(db);
  if (rows[0]?.found !== 1) throw new DatabaseMissing(name);
}
