import type { Command } from "commander";

import { rotateToken } from "../../operator/rotate-token.ts";
import { readDuration } from "../duration.ts";
import { printResult, resultCommand, type Terminal, time, withDatabase } from "../terminal.ts";

export function tokenRotate(terminal: Terminal): Command {
  return resultCommand("rotate", "Replace a token by a new one of the same name, scopes and end.")
    .argument("<token-id>", "id of the token, as `token list` shows it")
    .option(
      "--grace <duration>",
      "how long the old one still works (24h, 7d) (default: it is revoked at once)",
      readDuration,
    )
    .addHelpText(
      "after",
      "\nThe new token is shown once.\n" +
        "JSON: {token_id, app_id, name, scopes, expires_at, token, old_token_id, old_works_until} " +
        "(old_works_until: null when it is revoked)",
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
        `token: ${issued.token}`,
        `id:    ${issued.id}`,
        `old:   ${end === null ? "revoked" : `works until ${end}`}`,
        "",
        "Keep the token: it is not shown again.",
      ];
      printResult(terminal, json, result, words.join("\n"));
    });
}
