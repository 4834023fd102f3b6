import type { Command } from "commander";

import { OperatorError } from "../../operator/operator-error.ts";
import { reseal, type Resealed } from "../../operator/reseal.ts";
import { plural } from "../../shared/plural.ts";
import { announced } from "../announced.ts";
import { withServiceState } from "../database.ts";
import { printResult, resultCommand, type Terminal } from "../terminal.ts";

export function keysRotate(terminal: Terminal): Command {
  return resultCommand("rotate", "Re-encrypt the database with the newest key, which is the first of SECRET_KEYS.", {
    examples: ["keys rotate"],
    json: "{key, resealed, unchanged, idempotency_keys}",
    notes:
      "1. Put the new key first in SECRET_KEYS, before the old ones. 2. Restart the service.\n" +
      "3. Run this command; the service may run. 4. Remove the old keys from SECRET_KEYS.\n" +
      "If the command is interrupted, run it again: it continues.\n" +
      "Values that a version before 0.3.0 encrypted are bound to their row, also without a new key, and from then on values " +
      "without a row are refused. Use a new key if somebody may have a copy of the old values: it makes them useless.",
  }).action(async ({ json }: { json?: boolean }) => {
    const result = await withServiceState(terminal, ({ database, keys: { sealer, sealerProblem } }) => {
      if (sealer === null) throw new OperatorError(sealerProblem ?? "SECRET_KEYS is not set.");
      return announced(database, () => reseal({ database, sealer }));
    });
    printResult(terminal, json, result, describe(result));
  });
}

function describe(result: Resealed): string {
  const lines = [
    `Re-encrypted ${plural(result.resealed, "value")} with key ${result.key}. ${plural(result.unchanged, "value")} already used it.`,
    "The database no longer needs older keys. Remove them from SECRET_KEYS on every process at the same time.",
  ];
  if (result.idempotency_keys > 0) {
    lines.push(
      `${plural(result.idempotency_keys, "idempotency key")} can be checked only with older keys. Without those keys, a ` +
        "repeated call gets 409 instead of its first response. Nothing is done twice.",
    );
  }
  return lines.join("\n");
}
