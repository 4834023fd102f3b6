import type { Command } from "commander";

import { type ListedConsoleSession, listConsoleSessions } from "../../store/apps/console-sessions.ts";
import { withDatabase } from "../database.ts";
import { readLimit } from "../limit.ts";
import { printResult, resultCommand, table, type Terminal, time } from "../terminal.ts";

export function consoleList(terminal: Terminal): Command {
  return resultCommand("list", "List the sessions of the console and the links to it, newest first.", {
    examples: ["console list"],
    json: "[{session_id, app_id, app_name, state, scopes, created_at, signed_in_at, used_at, expires_at, revoked_at}]",
    notes:
      "The state is link (nobody has used it yet), active, expired or revoked. The app of the operator's sessions is null.",
  })
    .option("--limit <count>", "how many to list", readLimit, 100)
    .action(async ({ json, limit }: { json?: boolean; limit: number }) => {
      const sessions = await withDatabase(terminal, (database) => listConsoleSessions(database.read, limit));
      const now = Date.now();
      const result = sessions.map((session) => ({
        session_id: session.id,
        app_id: session.app_id,
        app_name: session.app_name,
        state: stateOf(session, now),
        scopes: session.scopes,
        created_at: time(session.created_at),
        signed_in_at: time(session.signed_in_at),
        used_at: time(session.used_at),
        expires_at: time(session.expires_at),
        revoked_at: time(session.revoked_at),
      }));
      const rows = result.map((session) => [
        session.session_id,
        session.app_name ?? "(operator)",
        session.state,
        session.scopes.join(","),
        session.used_at ?? "never",
        session.expires_at ?? "",
      ]);
      const head = ["ID", "APP", "STATE", "SCOPES", "LAST USED", "EXPIRES"];
      printResult(terminal, json, result, table(head, rows, "There are no sessions. Make a link: console"));
    });
}

function stateOf({ revoked_at, expires_at, hash }: ListedConsoleSession, now: number): string {
  if (revoked_at !== null) return "revoked";
  if (expires_at <= now) return "expired";
  return hash === null ? "link" : "active";
}
