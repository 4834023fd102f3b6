import BetterSqlite3 from "better-sqlite3";
import { Client } from "pg";

import { fileOf } from "./database.ts";

/** Runs one statement past the service: without migrations, and without the settings of its connections. */
export async function rawSql(url: string, text: string): Promise<Record<string, unknown>[]> {
  if (url.startsWith("file:")) return onSqlite(fileOf(url), text);
  return withClient(url, async (client) => {
    // A single statement must not fail because the service changes the same rows.
    await client.query("begin isolation level read committed");
    const { rows } = await client.query<Record<string, unknown>>(text);
    await client.query("commit");
    return rows;
  });
}

/** Connects to PostgreSQL past the service. */
export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function onSqlite(file: string, text: string): Record<string, unknown>[] {
  const database = new BetterSqlite3(file);
  try {
    const statement = database.prepare<[], Record<string, unknown>>(text);
    if (statement.reader) return statement.all();
    statement.run();
    return [];
  } finally {
    database.close();
  }
}

/** The names of all tables. */
export async function tablesOf(url: string): Promise<string[]> {
  const text = url.startsWith("file:")
    ? "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'"
    : "select tablename as name from pg_tables where schemaname = 'public'";
  return (await rawSql(url, text)).map(({ name }) => String(name));
}
