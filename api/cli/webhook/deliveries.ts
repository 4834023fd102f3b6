import { type Command, Option } from "commander";

import { DELIVERY_STATUSES, type DeliveryStatus } from "../../domain/event.ts";
import { type LoggedDelivery, newestDeliveries } from "../../store/outbox/delivery-log.ts";
import { appNamed } from "../find-app.ts";
import { readLimit } from "../limit.ts";
import { printResult, resultCommand, table, type Terminal, time, withDatabase } from "../terminal.ts";

export function describeDelivery(delivery: LoggedDelivery) {
  return {
    delivery_id: delivery.id,
    app_id: delivery.app_id,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    request_id: delivery.request_id,
    status: delivery.status,
    tries: delivery.tries,
    response_status: delivery.response_status,
    error: delivery.error,
    created_at: time(delivery.created_at),
    updated_at: time(delivery.updated_at),
  };
}

interface Options {
  json?: boolean;
  status?: DeliveryStatus;
  limit: number;
}

export function webhookDeliveries(terminal: Terminal): Command {
  return resultCommand("deliveries", "List what was sent to the webhook of an app, newest first.")
    .argument("<app>", "name or id of the app")
    .addOption(new Option("--status <status>", "only in this status").choices(DELIVERY_STATUSES))
    .option("--limit <n>", "how many at most", readLimit, 30)
    .addHelpText("after", "\nJSON: [{delivery_id, app_id, event_id, event_type, request_id, status, ...}]")
    .action(async (which: string, { json, status, limit }: Options) => {
      const rows = await withDatabase(terminal, async (database) => {
        const app = await appNamed(database.read, which);
        return newestDeliveries(database.read, app.id, { status: status ?? null, limit });
      });
      const result = rows.map(describeDelivery);
      const cells = result.map((row) => [
        row.delivery_id,
        row.event_type,
        row.status,
        row.tries.toString(),
        row.error ?? "",
        row.created_at ?? "",
      ]);
      const head = ["ID", "EVENT", "STATUS", "TRIES", "ERROR", "CREATED"];
      printResult(terminal, json, result, table(head, cells, "There is no such delivery."));
    });
}
