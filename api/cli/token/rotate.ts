import type { Command } from "commander";

import { rotateToken } from "../../operator/rotate-token.ts";
import { withDatabase } from "../database.ts";
import { readDuration } from "../duration.ts";
import { printResult, resultCommand, type Terminal, time } from "../terminal.ts";

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
