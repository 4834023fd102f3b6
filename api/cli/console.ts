import type { Command } from "commander";

import { type Scope, SCOPES } from "../commands/api-tokens.ts";
import { createConsoleLink, LINK_MINUTES, SESSION_DAYS } from "../commands/console-session.ts";
import { isValid } from "../commands/credential.ts";
import { pickSettings } from "../config/settings.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { plural } from "../shared/text.ts";
import {
  findConsoleSession,
  listConsoleSessions,
  type ListedConsoleSession,
  revokeAllConsoleSessions,
  revokeConsoleSession,
} from "../store/apps/console-sessions.ts";
import type { Trx } from "../store/db/sql.ts";
import { withDatabase } from "./database.ts";
import { appNamed, readLimit, readScopes } from "./options.ts";
import { printResult, resultCommand, table, type Terminal, time } from "./terminal.ts";

interface Options {
  json?: boolean;
  app?: string;
  scopes?: Scope[];
}

export function consoleLink(terminal: Terminal): Command {
  return resultCommand(
    "link",
    "Print a link that opens the console in a browser. The command `console` does the same.",
    {
      examples: ["console link", "console link --app my-shop --scopes read,mint"],
      json: "{session_id, app_id, scopes, url, expires_at}",
      notes:
        `The link works once, within ${LINK_MINUTES.toString()} minutes. The session that it opens lasts ${SESSION_DAYS.toString()} days. ` +
        "Anyone with the link can sign in: do not send it over a channel that others read. It begins with PUBLIC_URL.",
    },
  )
    .option("--app <app>", "name or id of the app (default: the operator's console, for all apps)")
    .option("--scopes <list>", `scopes, separated by commas: ${SCOPES.join(", ")} (default: all)`, readScopes)
    .action(async ({ json, app: which, scopes }: Options) => {
      const { publicUrl } = pickSettings(terminal.env, "publicUrl");
      const { app, link } = await withDatabase(terminal, async (database) => {
        const found = which === undefined ? null : await appNamed(database.read, which);
        const order = { appId: found?.id ?? null, scopes: scopes ?? null };
        return { app: found, link: await createConsoleLink({ database, publicUrl }, order) };
      });
      const result = {
        session_id: link.sessionId,
        app_id: app?.id ?? null,
        scopes: link.scopes,
        url: link.url,
        expires_at: time(link.expiresAt),
      };
      const words = [
        link.url,
        "",
        `for:     ${app === null ? "the operator (all apps)" : `the app ${app.name}`}`,
        `scopes:  ${link.scopes.join(", ")}`,
        `The link works once, until ${result.expires_at ?? ""}.`,
      ];
      printResult(terminal, json, result, words.join("\n"));
    });
}

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
  return isValid(session, now) ? 1 : 0;
}
