import BetterSqlite3 from "better-sqlite3";
import pg from "pg";

import { pathOf } from "../../api/store/db/database.ts";
import { isPostgres } from "../../api/store/db/errors.ts";

/** Reads the service's database, without the service's code. */
export interface Records {
  /** @param text SQL with `?` for each value. */
  all<T extends object>(text: string, ...values: (string | number)[]): Promise<T[]>;
  /** The first row. @throws when there is none. */
  one<T extends object>(text: string, ...values: (string | number)[]): Promise<T>;
  /** SQL for a text field of a column of JSON. */
  field(column: string, name: string): string;
  close(): Promise<void>;
}

export async function openRecords(databaseUrl: string): Promise<Records> {
  if (isPostgres(databaseUrl)) return PostgresRecords.open(databaseUrl);
  return new SqliteRecords(pathOf(databaseUrl));
}

/** Reads records that are being opened, and closes them. */
export async function withRecords<T>(opening: Promise<Records>, work: (records: Records) => Promise<T>): Promise<T> {
  const records = await opening;
  try {
    return await work(records);
  } finally {
    await records.close();
  }
}

class SqliteRecords implements Records {
  readonly #database: BetterSqlite3.Database;

  constructor(file: string) {
    this.#database = new BetterSqlite3(file, { readonly: true });
  }

  all<T extends object>(text: string, ...values: (string | number)[]): Promise<T[]> {
    return Promise.resolve(this.#database.prepare<unknown[], T>(text).all(...values));
  }

  async one<T extends object>(text: string, ...values: (string | number)[]): Promise<T> {
    return firstOf(await this.all<T>(text, ...values), text);
  }

  field(column: string, name: string): string {
    return `json_extract(${column}, '$.${name}')`;
  }

  close(): Promise<void> {
    this.#database.close();
    return Promise.resolve();
  }
}

/** Type ids of `bigint` and `numeric`, which count and add up. */
const NUMBERS = [20, 1700];

class PostgresRecords implements Records {
  readonly #client: pg.Client;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  static async open(url: string): Promise<PostgresRecords> {
    const getTypeParser: pg.CustomTypesConfig["getTypeParser"] = (type, format) =>
      NUMBERS.includes(type) ? Number : (pg.types.getTypeParser(type, format) as unknown);
    const client = new pg.Client({ connectionString: url, types: { getTypeParser } });
    await client.connect();
    return new PostgresRecords(client);
  }

  async all<T extends object>(text: string, ...values: (string | number)[]): Promise<T[]> {
    let number = 0;
    const { rows } = await this.#client.query<T>(
      text.replaceAll("?", () => `$${(++number).toString()}`),
      values,
    );
    return rows;
  }

  async one<T extends object>(text: string, ...values: (string | number)[]): Promise<T> {
    return firstOf(await this.all<T>(text, ...values), text);
  }

  field(column: string, name: string): string {
    return `(${column}::json->>'${name}')`;
  }

  async close(): Promise<void> {
    await this.#client.end();
  }
}

function firstOf<T>(rows: T[], text: string): T {
  const [row] = rows;
  if (row === undefined) throw new Error(`no row: ${text}`);
  return row;
}
