import { type Command, InvalidArgumentError } from "commander";

import { issueToken, type Scope, SCOPES } from "../commands/api-tokens.ts";
import { MAX_TOKEN_RATE } from "../config/limits.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { rotateToken } from "../operate/apps.ts";
import { findApiToken, listApiTokens, revokeApiToken } from "../store/apps/api-tokens.ts";
import { withDatabase } from "./database.ts";
import { appNamed, readDuration, readEnd, readScopes } from "./options.ts";
import { printResult, resultCommand, table, type Terminal, time } from "./terminal.ts";

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
    .option("--scopes <list>", `comma-separated: ${SCOPES.join(", ")} (default: all except users)`, readScopes)
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

export function tokenList(terminal: Terminal): Command {
  return resultCommand("list", "List the tokens of an app, without the secret values.", {
    examples: ["token list my-shop"],
    json: "[{token_id, name, scopes, rate_limit_per_minute, created_at, expires_at, revoked_at}]",
  })
    .argument("<app>", "name or id of the app")
    .action(async (which: string, { json }: { json?: boolean }) => {
      const tokens = await withDatabase(terminal, async (database) =>
        listApiTokens(database.read, (await appNamed(database.read, which)).id),
      );
      const result = tokens.map((token) => ({
        token_id: token.id,
        name: token.name,
        scopes: token.scopes,
        rate_limit_per_minute: token.rate_limit_per_minute,
        created_at: time(token.created_at),
        expires_at: time(token.expires_at),
        revoked_at: time(token.revoked_at),
      }));
      const rows = result.map((token) => [
        token.name,
        token.token_id,
        token.scopes.join(","),
        token.rate_limit_per_minute?.toString() ?? "",
        token.created_at ?? "",
        token.expires_at ?? "never",
        token.revoked_at ?? "",
      ]);
      const head = ["NAME", "ID", "SCOPES", "CALLS/MIN", "CREATED", "EXPIRES", "REVOKED"];
      printResult(terminal, json, result, table(head, rows, "The app has no tokens. Create one: token create <app>"));
    });
}

export function tokenRevoke(terminal: Terminal): Command {
  return resultCommand("revoke", "Revoke a token. It stops working at once.", {
    examples: ["token revoke 0b9f2c4e-8f43-4f0e-9c1d-6a5b3e7d2f10"],
    json: "{token_id, name, revoked_at}",
  })
    .argument("<token-id>", "id of the token, from `token list`")
    .action(async (id: string, { json }: { json?: boolean }) => {
      const token = await withDatabase(terminal, (database) =>
        database.write(async (trx) => {
          await revokeApiToken(trx, id, Date.now());
          const revoked = await findApiToken(trx, id);
          if (revoked === undefined)
            throw new OperatorError(`There is no token with the id ${id}. \`token list <app>\` shows the ids.`);
          return revoked;
        }),
      );
      const result = { token_id: token.id, name: token.name, revoked_at: time(token.revoked_at) };
      printResult(terminal, json, result, `revoked: ${token.name} (${token.id})`);
    });
}

export function tokenRotate(terminal: Terminal): Command {
  return resultCommand(
    "rotate",
    "Replace a token with a new one that has the same name, scopes, rate limit and expiry.",
    {
      examples: ["token rotate 0b9f2c4e-8f43-4f0e-9c1d-6a5b3e7d2f10 --grace 24h"],
      json:
        "{token_id, app_id, name, scopes, expires_at, token, old_token_id, old_works_until}.\n" +
        "`old_works_until` is null when the old token is revoked.",
      notes: "The new token is printed only now. The database stores its hash.",
    },
  )
    .argument("<token-id>", "id of the token, from `token list`")
    .option(
      "--grace <duration>",
      "time for which the old token still works (7d, 24h, 30m) (default: none)",
      readDuration,
    )
    .action(async (id: string, { json, grace }: { json?: boolean; grace?: number }) => {
      const { old, issued } = await withDatabase(terminal, (database) => rotateToken({ database }, id, grace ?? 0));
      const end = old.revoked_at === null ? time(old.expires_at) : null;
      const result = {
        token_id: issued.id,
        app_id: old.app_id,
        name: old.name,
        scopes: issued.scopes,
        expires_at: time(issued.expiresAt),
        token: issued.token,
        old_token_id: old.id,
        old_works_until: end,
      };
      const words = [
        `token:     ${issued.token}`,
        `id:        ${issued.id}`,
        `old token: ${end === null ? "revoked" : `works until ${end}`}`,
        "",
        "Save the token: it is not shown again.",
      ];
      printResult(terminal, json, result, words.join("\n"));
    });
}
