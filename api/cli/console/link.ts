import type { Command } from "commander";

import { type Scope, SCOPES } from "../../commands/access-token.ts";
import { createConsoleLink, LINK_MINUTES, SESSION_DAYS } from "../../commands/console-session.ts";
import { parseLinkSettings } from "../../config/settings-parts.ts";
import { withDatabase } from "../database.ts";
import { appNamed } from "../find-app.ts";
import { readScopes } from "../scopes.ts";
import { printResult, resultCommand, type Terminal, time } from "../terminal.ts";

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
        "Who has the link can sign in: do not send it over a channel that others read. It begins with PUBLIC_URL.",
    },
  )
    .option("--app <app>", "name or id of the app (default: the operator's console, for all apps)")
    .option("--scopes <list>", `scopes, separated by commas: ${SCOPES.join(", ")} (default: all)`, readScopes)
    .action(async ({ json, app: which, scopes }: Options) => {
      const { publicUrl } = parseLinkSettings(terminal.env);
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
