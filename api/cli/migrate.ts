import type { Command } from "commander";

import { withNewDatabase } from "./database.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";

export function migrate(terminal: Terminal): Command {
  return resultCommand("migrate", "Create the tables of the database, or bring them up to date.", {
    examples: ["migrate"],
    json: "{migrated: true}",
    notes:
      "The service does the same when it starts. Use this command to do it once, before many processes start.\n" +
      "The chain need not run, and no key is needed.",
  }).action(async ({ json }: { json?: boolean }) => {
    // Opening the database brings it up to date.
    await withNewDatabase(terminal, () => Promise.resolve());
    printResult(terminal, json, { migrated: true }, "The database is up to date.");
  });
}
