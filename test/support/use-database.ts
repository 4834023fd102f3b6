import { createTestDatabase, type DatabasePlace, openTestDatabase, type TestDatabase } from "./database.ts";
import { type Lifetime, useResource } from "./use-resource.ts";

/** Gives the tests of a `describe` block a new database. */
export function useTestDatabase(
  options: { prepare?: (database: TestDatabase) => Promise<unknown>; per?: Lifetime } = {},
): TestDatabase {
  return useResource({ open: openTestDatabase, close: (database) => database.remove(), ...options });
}

/** Gives each test of a `describe` block a new database that nobody has opened yet. */
export function useDatabasePlace(options: Parameters<typeof createTestDatabase>[0] = {}): DatabasePlace {
  return useResource({ open: () => createTestDatabase(options), close: (place) => place.remove() });
}
