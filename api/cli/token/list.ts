import type { Command } from "commander";

import { listApiTokens } from "../../store/apps/api-tokens.ts";
import { withDatabase } from "../database.ts";
import { appNamed } from "../find-app.ts";
import { printResult, resultCommand, table, type Terminal, time } from "../terminal.ts";

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
