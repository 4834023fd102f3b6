import type { Command } from "commander";

import { OperatorError } from "../../operator/operator-error.ts";
import { findRequest } from "../../store/requests/requests.ts";
import { printResult, resultCommand, type Terminal, withDatabase } from "../terminal.ts";
import { describeRequest } from "./describe.ts";

export function requestShow(terminal: Terminal): Command {
  return resultCommand("show", "Show one request of any app, and what it asked for.")
    .argument("<request-id>", "id of the request")
    .addHelpText("after", "\nUnlockable content is never shown.")
    .action(async (id: string, { json }: { json?: boolean }) => {
      const row = await withDatabase(terminal, (database) => findRequest(database.read, null, id));
      if (row === undefined) throw new OperatorError(`There is no request with the id ${id}.`);
      const result = { ...describeRequest(row), command: row.command };
      const lines = Object.entries(result)
        .filter(([, value]) => value !== null)
        .map(([name, value]) => `${`${name}:`.padEnd(18)}${typeof value === "string" ? value : JSON.stringify(value)}`);
      printResult(terminal, json, result, lines.join("\n"));
    });
}
