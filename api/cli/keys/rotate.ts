import type { Command } from "commander";

import { OperatorError } from "../../operator/operator-error.ts";
import { reseal, type Resealed } from "../../operator/reseal.ts";
import { parseSettings } from "../../config/settings.ts";
import { withWorkplace } from "../../context/workplace.ts";
import { printResult, resultCommand, type Terminal } from "../terminal.ts";

export function keysRotate(terminal: Terminal): Command {
  return resultCommand("rotate", "Seal everything in the database anew, with the first of SECRET_KEYS.")
    .addHelpText(
      "after",
      "\nPut a new key before the others in SECRET_KEYS, restart the service with them, run this, and then drop the old " +
        "ones.\nThe service may run. Broken off, it goes on the next time.\nJSON: {key, resealed, unchanged, idempotency_keys}",
    )
    .action(async ({ json }: { json?: boolean }) => {
      const result = await withWorkplace(parseSettings(terminal.env), ({ database, keys }) => {
        if (keys.sealer === null) throw new OperatorError(keys.sealerProblem ?? "There is no key.");
        return reseal({ database, sealer: keys.sealer });
      });
      printResult(terminal, json, result, describe(result));
    });
}

function describe(result: Resealed): string {
  const lines = [
    `${result.resealed.toString()} sealed anew with key ${result.key}, ${result.unchanged.toString()} were already.`,
    "Older keys open nothing any more and can be dropped from SECRET_KEYS, on every process at once.",
  ];
  if (result.idempotency_keys > 0) {
    lines.push(
      `${result.idempotency_keys.toString()} idempotency keys were made with older keys: without those, a repeated call ` +
        "is refused (409) where it got its first answer again. Nothing is done twice.",
    );
  }
  return lines.join("\n");
}
