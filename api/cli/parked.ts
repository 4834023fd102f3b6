import { Argument, type Command } from "commander";

import { PARKED_KINDS, type ParkedKind } from "../domain/conditions.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { retryParked } from "../store/db/under-way.ts";
import { withDatabase } from "./database.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";

export function parkedRetry(terminal: Terminal): Command {
  return resultCommand("retry", "Try parked work again at once, also work at which the process died.", {
    examples: ["parked retry delivery 01JGXYZ8Q0ABCDEFGHJKMNPQRS"],
    json: "{kind, id}",
    notes: "`doctor` names what is parked. docs/operations.md says what each kind is (Parked rows).",
  })
    .addArgument(new Argument("<kind>", "what is parked").choices(PARKED_KINDS))
    .argument("<id>", "id of the row, as `doctor` names it")
    .action(async (kind: ParkedKind, id: string, { json }: { json?: boolean }) => {
      const found = await withDatabase(terminal, (database) => database.write((trx) => retryParked(trx, kind, id)));
      if (!found) throw new OperatorError(`No ${kind} with the id ${id} is parked. \`doctor\` names what is.`);
      printResult(terminal, json, { kind, id }, `It is tried again now: ${kind} ${id}`);
    });
}
