import type { Command } from "commander";

import { OperatorError } from "../../operator/operator-error.ts";
import { findRequest } from "../../store/requests/requests.ts";
import { withDatabase } from "../database.ts";
import { printResult, resultCommand, type Terminal } from "../terminal.ts";
import { describeRequest } from "./describe.ts";

export function requestShow(terminal: Terminal): Command {
  return resultCommand("show", "Show a request of any app, with its command.", {
    examples: [`request show ${"0123456789abcdef".repeat(4)}`],
    json: "{request_id, app_id, type, status, ..., command}",
    notes: "Never shows unlockable content.",
  })
    .argument("<request-id>", "id of the request")
    .action(async (id: string, { json }: { json?: boolean }) => {
      const row = await withDatabase(terminal, (database) => findRequest(database.read, null, id));
      if (row === undefined)
        throw new OperatorError(`There is no request with the id ${id}. \`request list\` shows the newest ones.`);
      const result = { ...describeRequest(row), command: row.command };
      const lines = Object.entries(result)
        .filter(([, value]) => value !== null)
        .map(([name, value]) => `${`${name}:`.padEnd(18)}${typeof value === "string" ? value : JSON.stringify(value)}`);
      printResult(terminal, json, result, lines.join("\n"));
    });
}
