import { openTestDatabase, type TestDatabase } from "../../support/database.ts";
import { startAtBlock } from "./blocks.ts";
import { addApp } from "./rows.ts";

/** A new database with an app, from whose block 0 on blocks are stored. */
export async function openLedger(): Promise<TestDatabase> {
  const database = await openTestDatabase();
  await addApp(database);
  await startAtBlock(database, 0);
  return database;
}
