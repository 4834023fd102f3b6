import type { Command } from "commander";

import { OperatorError } from "../../operator/operator-error.ts";
import { findApiToken, revokeApiToken } from "../../store/apps/api-tokens.ts";
import { printResult, resultCommand, type Terminal, time, withDatabase } from "../terminal.ts";

export function tokenRevoke(terminal: Terminal): Command {
  return resultCommand("revoke", "Revoke a token: it stops working at once.")
    .argument("<token-id>", "id of the token, as `token list` shows it")
    .addHelpText("after", "\nJSON: {token_id, name, revoked_at}")
    .action(async (id: string, { json }: { json?: boolean }) => {
      const token = await withDatabase(terminal, (database) =>
        database.write(async (trx) => {
          await revokeApiToken(trx, id, Date.now());
          const revoked = await findApiToken(trx, id);
          if (revoked === undefined) throw new OperatorError(`There is no token with the id ${id}.`);
          return revoked;
        }),
      );
      const result = { token_id: token.id, name: token.name, revoked_at: time(token.revoked_at) };
      printResult(terminal, json, result, `revoked: ${token.name} (${token.id})`);
    });
}
