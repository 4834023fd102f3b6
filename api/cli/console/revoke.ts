import type { Command } from "commander";

import { OperatorError } from "../../operator/operator-error.ts";
import { plural } from "../../shared/plural.ts";
import {
  findConsoleSession,
  revokeAllConsoleSessions,
  revokeConsoleSession,
} from "../../store/apps/console-sessions.ts";
import type { Trx } from "../../store/db/engine.ts";
import { withDatabase } from "../database.ts";
import { printResult, resultCommand, type Terminal } from "../terminal.ts";

export function consoleRevoke(terminal: Terminal): Command {
  return resultCommand("revoke", "Revoke a session of the console, or all. They stop working at once.", {
    examples: ["console revoke 0b9f2c4e-8f43-4f0e-9c1d-6a5b3e7d2f10", "console revoke --all"],
    json: "{revoked}",
    notes: "Links that nobody has used yet are revoked too. `revoked` counts what worked until now.",
  })
    .argument("[session-id]", "id of the session, from `console list`")
    .option("--all", "revoke every session and link")
    .action(async (id: string | undefined, { json, all }: { json?: boolean; all?: boolean }) => {
      if ((id === undefined) !== (all === true)) throw new OperatorError("Name one session, or --all.");
      const revoked = await withDatabase(terminal, (database) =>
        database.write((trx) => (id === undefined ? revokeAllConsoleSessions(trx, Date.now()) : revokeOne(trx, id))),
      );
      printResult(terminal, json, { revoked }, `revoked: ${plural(revoked, "session")}`);
    });
}

async function revokeOne(trx: Trx, id: string): Promise<number> {
  const now = Date.now();
  const session = await findConsoleSession(trx, id);
  if (session === undefined) {
    throw new OperatorError(`There is no session with the id ${id}. \`console list\` shows the ids.`);
  }
  await revokeConsoleSession(trx, id, now);
  return session.revoked_at === null && session.expires_at > now ? 1 : 0;
}
