import { Client } from "pg";

import { openDatabase } from "../../api/store/db/database.ts";
import type { PostgresServer } from "../../scripts/postgres/server.ts";

/*
 * PostgreSQL databases for one test after the other. To make and remove one, the server copies 350 files and writes all that
 * it holds in memory. To empty one, it touches only the few tables that a test has used: less than a tenth of the time.
 */

/** An empty database with the newest schema, which the others are copies of. */
const TEMPLATE = "migrated";

const OF_SCHEMA = "relnamespace = 'public'::regnamespace";

/** Everything of a database except for its rows. A copy has the same object ids as its template. */
const SHAPE = `
select md5(concat_ws(',',
  (select string_agg(concat_ws(' ', oid, nspname, nspowner, nspacl), ',' order by oid) from pg_namespace
    where nspname !~ '^pg_(toast_)?temp_'),
  (select string_agg(concat_ws(' ', oid, relname, relkind, relowner, relacl, reloptions), ',' order by oid) from pg_class
    where ${OF_SCHEMA}),
  (select string_agg(concat_ws(' ', attrelid, attnum, attname, atttypid, attnotnull, atthasdef), ',' order by attrelid, attnum)
     from pg_attribute where attrelid in (select oid from pg_class where ${OF_SCHEMA})),
  (select string_agg(concat_ws(' ', oid, conname, convalidated), ',' order by oid) from pg_constraint),
  (select string_agg(concat_ws(' ', oid, tgname, tgenabled), ',' order by oid) from pg_trigger),
  (select string_agg(oid::text, ',' order by oid) from pg_proc where pronamespace = 'public'::regnamespace),
  (select string_agg(oid::text, ',' order by oid) from pg_extension),
  (select string_agg(concat_ws(' ', name, timestamp), ',' order by name) from kysely_migration),
  (select count(*) from pg_statistic where starelid in (select oid from pg_class where ${OF_SCHEMA})),
  (select concat_ws(' ', datdba, datacl) from pg_database where datname = current_database()),
  (select count(*) from pg_db_role_setting join pg_database on pg_database.oid = setdatabase
    where datname = current_database())
)) as shape`;

/** The tables that have pages, without those that the migrations fill. */
const USED_TABLES = `
select oid::regclass::text as name from pg_class
 where ${OF_SCHEMA} and relkind = 'r' and relname not like 'kysely_%' and pg_relation_size(oid) > 0`;

/** Lets the used sequences begin anew. */
const SEQUENCES = `
select setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) from pg_sequences
 where last_value is not null`;

/** The planner knows a vacuumed table to be empty. Of a new table it knows nothing. */
const AS_NEW = `update pg_class set reltuples = -1 where ${OF_SCHEMA} and relkind = 'r' and reltuples = 0`;

export class ReadyDatabases {
  readonly #server: PostgresServer;
  readonly #nextName: () => string;
  /** Nobody is connected to them, and they are as the template. */
  readonly #ready: string[] = [];
  #shape: Promise<string> | null = null;

  constructor(server: PostgresServer, nextName: () => string) {
    this.#server = server;
    this.#nextName = nextName;
  }

  /** @returns the name of a database with the newest schema and no rows. */
  async take(): Promise<string> {
    await (this.#shape ??= this.#makeTemplate());
    const ready = this.#ready.pop();
    if (ready !== undefined) return ready;
    const name = this.#nextName();
    await this.#server.createDatabase(name, TEMPLATE);
    return name;
  }

  /** Empties the database for the next test. Removes it when somebody is connected to it, or when more than rows changed. */
  async giveBack(name: string): Promise<void> {
    const isFree = (await this.#server.connections(name)) === 0;
    if (isFree && (await this.#connected(name, (client) => this.#empty(client)))) this.#ready.push(name);
    else await this.#server.dropDatabase(name);
  }

  /** @returns false when more than rows changed. */
  async #empty(client: Client): Promise<boolean> {
    if ((await shapeOf(client)) !== (await this.#shape)) return false;
    const { rows } = await client.query<{ name: string }>(USED_TABLES);
    const tables = rows.map(({ name }) => name);
    // In this role, foreign keys are not checked, so the order of the tables does not matter.
    const deletions = tables.map((table) => `delete from ${table}`);
    await client.query(["set session_replication_role = replica", ...deletions, SEQUENCES].join("; "));
    if (tables.length === 0) return true;
    // Cuts the files of the tables, so that new rows are stored in the order in which they are inserted.
    await client.query(`vacuum (index_cleanup on) ${tables.join(", ")}`);
    await client.query(AS_NEW);
    return true;
  }

  async #makeTemplate(): Promise<string> {
    await (await openDatabase(await this.#server.createDatabase(TEMPLATE))).close();
    return this.#connected(TEMPLATE, shapeOf);
  }

  async #connected<T>(name: string, work: (client: Client) => Promise<T>): Promise<T> {
    const client = new Client({ connectionString: this.#server.url(name) });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }
}

async function shapeOf(client: Client): Promise<string> {
  const { rows } = await client.query<{ shape: string }>(SHAPE);
  return rows[0]?.shape ?? "";
}
