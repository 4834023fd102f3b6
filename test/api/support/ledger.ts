import { openTestDatabase, type TestDatabase } from "../../support/database.ts";
import { useTestDatabase } from "../../support/use-database.ts";
import { startAtBlock } from "./blocks.ts";
import { addApp } from "./rows.ts";

/** A new database with an app, from whose block 0 on blocks are stored. */
export async function openLedger(): Promise<TestDatabase> {
  const database = await openTestDatabase();
  await prepare(database);
  return database;
}

/** Gives each test of a `describe` block such a database. */
export function useLedger(): TestDatabase {
  return useTestDatabase({ prepare });
}

async function prepare(database: TestDatabase): Promise<void> {
  await addApp(database);
  await startAtBlock(database, 0);
}
