import type { Command } from "commander";

import { OperatorError } from "../../operator/operator-error.ts";
import { redeliverEvent } from "../../commands/send-webhook.ts";
import { ApiError } from "../../domain/error-codes.ts";
import { withDatabase } from "../database.ts";
import { printResult, resultCommand, type Terminal } from "../terminal.ts";
import { describeDelivery } from "./deliveries.ts";

/** No signal is needed: the running service polls for due deliveries. */
const signals = { deliveries: { notify: () => undefined } };

export function webhookRedeliver(terminal: Terminal): Command {
  return resultCommand("redeliver", "Deliver an event again. The running service sends it.", {
    examples: ["webhook redeliver 0b9f2c4e-8f43-4f0e-9c1d-6a5b3e7d2f10"],
    json: "the new delivery, as `webhook deliveries` prints it",
  })
    .argument("<delivery-id>", "id of the delivery, from `webhook deliveries`")
    .action(async (id: string, { json }: { json?: boolean }) => {
      const delivery = await withDatabase(terminal, (database) =>
        redeliverEvent({ database, signals }, null, id).catch((error: unknown) => {
          throw error instanceof ApiError ? new OperatorError(sentenceOf(error, id)) : error;
        }),
      );
      const result = describeDelivery(delivery);
      printResult(terminal, json, result, `queued: ${result.delivery_id}`);
    });
}

function sentenceOf(error: ApiError, id: string): string {
  return error.errorCode === "not_found"
    ? `There is no delivery with the id ${id}: it may have been pruned (RETAIN_DELIVERIES_DAYS, RETAIN_FAILED_DELIVERIES_DAYS). Or its app no longer has a webhook.`
    : "The webhook is disabled. Its app must register it again first: PUT /v1/webhook.";
}
