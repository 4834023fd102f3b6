import { type Database, openDatabase } from "../../api/store/db/database.ts";
import { openTestDatabase, type TestDatabase } from "./database.ts";

/** A new database for each test, opened twice, as by two processes. */
interface TwoProcesses {
  readonly one: TestDatabase;
  readonly other: Database;
}

/** Registers the hooks. @param prepare fills the database before each test. */
export function useTwoProcesses(prepare: (one: TestDatabase) => Promise<void> = () => Promise.resolve()): TwoProcesses {
  const opened: { one?: TestDatabase; other?: Database } = {};
  beforeEach(async () => {
    opened.one = await openTestDatabase();
    opened.other = await openDatabase(opened.one.url);
    await prepare(opened.one);
  });
  afterEach(async () => {
    await opened.other?.close();
    await opened.one?.remove();
  });
  return {
    get one() {
      return present(opened.one);
    },
    get other() {
      return present(opened.other);
    },
  };
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("the databases are open only during a test");
  return value;
}
