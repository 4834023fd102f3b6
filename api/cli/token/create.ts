import { type Command, InvalidArgumentError } from "commander";

import { isScope, type Scope, SCOPES } from "../../commands/access-token.ts";
import { issueToken } from "../../commands/issue-token.ts";
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
    .option(
      "--expires <when>",
      "how long it lives (90d, 12h) or when it ends (2030-01-31) (default: never)",
      readExpiry,
    )
    .addHelpText(
      "after",
      "\nThe token is shown once. To rotate: create a new one, then revoke the old one." +
        "\nJSON: {token_id, app_id, name, scopes, expires_at, token}",
    )
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

const HOUR = 3_600_000;

function readExpiry(text: string): number {
  const [, amount, unit] = /^(\d{1,6})([hd])$/.exec(text) ?? [];
  const at = amount === undefined ? Date.parse(text) : Date.now() + Number(amount) * (unit === "d" ? 24 * HOUR : HOUR);
  if (Number.isNaN(at)) throw new InvalidArgumentError("Give a duration such as 90d or 12h, or a date.");
  if (at <= Date.now()) throw new InvalidArgumentError("That is in the past.");
  return at;
}
