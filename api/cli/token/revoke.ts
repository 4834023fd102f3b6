import type { Command } from "commander";

import { OperatorError } from "../../operator/operator-error.ts";
import { findApiToken, revokeApiToken } from "../../store/apps/api-tokens.ts";
import { withDatabase } from "../database.ts";
import { printResult, resultCommand, type Terminal, time } from "../terminal.ts";

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
