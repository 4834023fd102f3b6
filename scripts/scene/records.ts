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
  const reader = isPostgres(databaseUrl) ? await readPostgres(databaseUrl) : readSqlite(pathOf(databaseUrl));
  const one = async <T extends object>(text: string, ...values: (string | number)[]): Promise<T> => {
    const [row] = await reader.all<T>(text, ...values);
    if (row === undefined) throw new Error(`no row: ${text}`);
    return row;
  };
  return { ...reader, one };
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

type Reader = Omit<Records, "one">;

function readSqlite(file: string): Reader {
  const database = new BetterSqlite3(file, { readonly: true });
  return {
    all: <T extends object>(text: string, ...values: (string | number)[]) =>
      Promise.resolve(database.prepare<unknown[], T>(text).all(...values)),
    field: (column, name) => `json_extract(${column}, '$.${name}')`,
    close: () => {
      database.close();
      return Promise.resolve();
    },
  };
}

/** Type ids of `bigint` and `numeric`, which count and add up. */
const NUMBERS = [20, 1700];

async function readPostgres(url: string): Promise<Reader> {
  const getTypeParser: pg.CustomTypesConfig["getTypeParser"] = (type, format) =>
    NUMBERS.includes(type) ? Number : (pg.types.getTypeParser(type, format) as unknown);
  const client = new pg.Client({ connectionString: url, types: { getTypeParser } });
  await client.connect();
  return {
    all: async <T extends object>(text: string, ...values: (string | number)[]) => {
      let number = 0;
      const numbered = text.replaceAll("?", () => `$${(++number).toString()}`);
      return (await client.query<T>(numbered, values)).rows;
    },
    field: (column, name) => `(${column}::json->>'${name}')`,
    close: () => client.end(),
  };
}
