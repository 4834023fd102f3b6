import type { Command } from "commander";

import { OperatorError } from "../../operator/operator-error.ts";
import { redeliverEvent } from "../../commands/send-webhook.ts";
import { ApiError } from "../../domain/error-codes.ts";
import { printResult, resultCommand, type Terminal, withDatabase } from "../terminal.ts";
import { describeDelivery } from "./deliveries.ts";

/** A running service looks for due deliveries by itself. */
const signals = { deliveries: { notify: () => undefined } };

export function webhookRedeliver(terminal: Terminal): Command {
  return resultCommand("redeliver", "Send what a delivery carried once more. The running service does it.")
    .argument("<delivery-id>", "id of the delivery, as `webhook deliveries` shows it")
    .addHelpText("after", "\nJSON: the delivery, as `webhook deliveries` shows it")
    .action(async (id: string, { json }: { json?: boolean }) => {
      const delivery = await withDatabase(terminal, (database) =>
        redeliverEvent({ database, signals }, null, id).catch((error: unknown) => {
          throw error instanceof ApiError ? new OperatorError(wordsOf(error, id)) : error;
        }),
      );
      const result = describeDelivery(delivery);
      printResult(terminal, json, result, `to be sent: ${result.delivery_id}`);
    });
}

function wordsOf(error: ApiError, id: string): string {
  return error.errorCode === "not_found"
    ? `There is no delivery with the id ${id}, or its app has no webhook any more.`
    : "The webhook is disabled: its app must register it again.";
}
