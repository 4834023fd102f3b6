import { type Command, Option } from "commander";

import { DELIVERY_STATUSES, type DeliveryStatus } from "../../domain/event.ts";
import { type LoggedDelivery, newestDeliveries } from "../../store/outbox/delivery-log.ts";
import { withDatabase } from "../database.ts";
import { appNamed } from "../find-app.ts";
import { readLimit } from "../limit.ts";
import { printResult, resultCommand, table, type Terminal, time } from "../terminal.ts";

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
  return resultCommand("deliveries", "List the webhook deliveries of an app, newest first.", {
    examples: ["webhook deliveries my-shop --status failed"],
    json: "[{delivery_id, app_id, event_id, event_type, request_id, status, ...}]",
  })
    .argument("<app>", "name or id of the app")
    .addOption(new Option("--status <status>", "only deliveries in this status").choices(DELIVERY_STATUSES))
    .option("--limit <n>", "maximum number of deliveries", readLimit, 30)
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
      printResult(terminal, json, result, table(head, cells, "No deliveries found."));
    });
}
