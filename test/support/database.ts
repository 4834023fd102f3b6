import { join } from "node:path";

import { type Database, openDatabase } from "../../api/store/db/database.ts";
import { temporaryFolder } from "./folder.ts";

/** A new database file. */
export interface TestDatabase extends Database {
  url: string;
  /** Closes it and removes the file. */
  remove(): Promise<void>;
}

export async function openTestDatabase(): Promise<TestDatabase> {
  const folder = await temporaryFolder();
  const url = `file:${join(folder.path, "test.sqlite")}`;
  const database = await openDatabase(url);
  return {
    ...database,
    url,
    remove: async () => {
      await database.close();
      await folder.remove();
    },
  };
}
