import { type Database, openDatabase } from "../../../../api/store/db/database.ts";

/** Works in a database through a connection of its own, as another process does. */
export async function inDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase(url);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
