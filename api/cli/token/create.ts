import { type Command, InvalidArgumentError } from "commander";

import { type Scope, SCOPES } from "../../commands/access-token.ts";
import { issueToken } from "../../commands/issue-token.ts";
import { MAX_TOKEN_RATE } from "../../config/limits.ts";
import { withDatabase } from "../database.ts";
import { readEnd } from "../duration.ts";
import { appNamed } from "../find-app.ts";
import { readScopes } from "../scopes.ts";
import { printResult, resultCommand, type Terminal, time } from "../terminal.ts";

interface Options {
  json?: boolean;
  name: string;
  scopes?: Scope[];
  expires?: number;
  rateLimit?: number;
}

export function tokenCreate(terminal: Terminal): Command {
  return resultCommand("create", "Create a token for an app.", {
    examples: [
      "token create my-shop",
      "token create my-shop --name ci --scopes read,mint --expires 90d --rate-limit 60",
    ],
    json: "{token_id, app_id, name, scopes, rate_limit_per_minute, expires_at, token}",
    notes: "The token is printed only now. The database stores its hash.",
  })
    .argument("<app>", "name or id of the app")
    .option("--name <name>", "name of the token, for your own reference", "token")
    .option("--scopes <list>", `scopes, separated by commas: ${SCOPES.join(", ")} (default: all)`, readScopes)
    .option("--expires <when>", "lifetime (90d, 12h, 30m) or end date (2030-01-31) (default: never)", readEnd)
    .option("--rate-limit <calls>", "most calls per minute, below the limit of the app (default: none)", readRate)
    .action(async (which: string, { json, name, scopes, expires, rateLimit }: Options) => {
      const { app, issued } = await withDatabase(terminal, async (database) => {
        const found = await appNamed(database.read, which);
        const limits = { expiresAt: expires ?? null, ratePerMinute: rateLimit ?? null };
        const order = { appId: found.id, name, scopes: scopes ?? null, ...limits };
        return { app: found, issued: await issueToken({ database }, order) };
      });
      const result = {
        token_id: issued.id,
        app_id: app.id,
        name,
        scopes: issued.scopes,
        rate_limit_per_minute: rateLimit ?? null,
        expires_at: time(expires ?? null),
        token: issued.token,
      };
      const words = [
        `token:   ${issued.token}`,
        `id:      ${issued.id}`,
        `scopes:  ${issued.scopes.join(", ")}`,
        ...(rateLimit === undefined ? [] : [`limit:   ${rateLimit.toString()} calls a minute`]),
        `expires: ${result.expires_at ?? "never"}`,
        "",
        "Save the token: it is not shown again.",
      ];
      printResult(terminal, json, result, words.join("\n"));
    });
}

/** Parses `--rate-limit`. */
function readRate(text: string): number {
  const rate = Number(text);
  if (/^\d+$/.test(text) && rate >= 1 && rate <= MAX_TOKEN_RATE) return rate;
  throw new InvalidArgumentError(`Give a number from 1 to ${MAX_TOKEN_RATE.toString()}.`);
}
