import type { Command } from "commander";

import { applyGrants } from "../store/db/migrate.ts";
import { withNewDatabase } from "./database.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";

export function migrate(terminal: Terminal): Command {
  return resultCommand("migrate", "Create the tables of the database, or bring them up to date.", {
    examples: ["migrate"],
    json: "{migrated: true, roles: [name]}",
    notes:
      "The service does the same when it starts. Use this command to do it once, before many processes start.\n" +
      "The chain need not run, and no key is needed.\n" +
      "PostgreSQL: gives the roles moneta_service, moneta_media and moneta_ipfs their rights, if they exist. Run it as the owner of " +
      "the database, after each upgrade.",
  }).action(async ({ json }: { json?: boolean }) => {
    // Opening the database brings it up to date.
    const roles = await withNewDatabase(terminal, (database) => database.write(applyGrants));
    const granted = roles.length === 0 ? "" : ` These roles have their rights: ${roles.join(", ")}.`;
    printResult(terminal, json, { migrated: true, roles }, `The database is up to date.${granted}`);
  });
}
