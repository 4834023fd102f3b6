import { type Database, openDatabase } from "../../api/store/db/database.ts";
import { openTestDatabase, type TestDatabase } from "./database.ts";
import { useResource } from "./use-resource.ts";

/** A database, opened twice, as by two processes. */
interface TwoProcesses {
  readonly one: TestDatabase;
  readonly other: Database;
}

/** Gives each test of the `describe` block a new one. @param prepare fills the database. */
export function useTwoProcesses(
  prepare: (one: TestDatabase) => Promise<unknown> = () => Promise.resolve(),
): TwoProcesses {
  return useResource<TwoProcesses>({
    open: async () => {
      const one = await openTestDatabase();
      try {
        return { one, other: await openDatabase(one.url) };
      } catch (error) {
        await one.remove();
        throw error;
      }
    },
    prepare: ({ one }) => prepare(one),
    close: async ({ one, other }) => {
      await other.close();
      await one.remove();
    },
  });
}
