import { type Command, InvalidArgumentError } from "commander";

import { isScope, type Scope, SCOPES } from "../../commands/access-token.ts";
import { issueToken } from "../../operator/issue-token.ts";
import { readEnd } from "../duration.ts";
import { appNamed } from "../find-app.ts";
import { printResult, resultCommand, type Terminal, time, withDatabase } from "../terminal.ts";

interface Options {
  json?: boolean;
  name: string;
  scopes?: Scope[];
  expires?: number;
}

export function tokenCreate(terminal: Terminal): Command {
  return resultCommand("create", "Make another token for an app.")
    .argument("<app>", "name or id of the app")
    .option("--name <name>", "to tell tokens apart", "token")
    .option("--scopes <list>", `what it may do, separated by commas: ${SCOPES.join(", ")} (default: all)`, readScopes)
    .option("--expires <when>", "how long it lives (90d, 12h) or when it ends (2030-01-31) (default: never)", readEnd)
    .addHelpText("after", "\nThe token is shown once." + "\nJSON: {token_id, app_id, name, scopes, expires_at, token}")
    .action(async (which: string, { json, name, scopes, expires }: Options) => {
      const { app, issued } = await withDatabase(terminal, async (database) => {
        const found = await appNamed(database.read, which);
        const order = { appId: found.id, name, scopes: scopes ?? null, expiresAt: expires ?? null };
        return { app: found, issued: await issueToken({ database }, order) };
      });
      const result = {
        token_id: issued.id,
        app_id: app.id,
        name,
        scopes: issued.scopes,
        expires_at: time(expires ?? null),
        token: issued.token,
      };
      const words = [
        `token: ${issued.token}`,
        `id:    ${issued.id}`,
        `may:   ${issued.scopes.join(", ")}`,
        `ends:  ${result.expires_at ?? "never"}`,
        "",
        "Keep the token: it is not shown again.",
      ];
      printResult(terminal, json, result, words.join("\n"));
    });
}

function readScopes(text: string): Scope[] {
  const names = [...new Set(text.split(",").map((name) => name.trim()))];
  const scopes = names.filter(isScope);
  if (scopes.length !== names.length) throw new InvalidArgumentError(`Scopes are ${SCOPES.join(", ")}.`);
  return scopes;
}
