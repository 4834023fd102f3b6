import { type Command, Option } from "commander";

import { redeliverEvent } from "../commands/webhooks.ts";
import { ApiError } from "../domain/error-codes.ts";
import { DELIVERY_STATUSES, type DeliveryStatus } from "../domain/request.ts";
import { OperatorError } from "../operate/operator-error.ts";
import type { AppRow } from "../store/db/schema.ts";
import type { Db } from "../store/db/sql.ts";
import { type LoggedDelivery, newestDeliveries } from "../store/outbox/deliveries.ts";
import { disableWebhook, findWebhook, type StoredWebhook } from "../store/outbox/webhooks.ts";
import { withDatabase } from "./database.ts";
import { appNamed, readLimit } from "./options.ts";
import { printResult, resultCommand, table, type Terminal, time } from "./terminal.ts";

export function webhookDisable(terminal: Terminal): Command {
  return resultCommand("disable", "Stop deliveries to the webhook of an app until the app registers it again.", {
    examples: ["webhook disable my-shop"],
    json: "the webhook, as `webhook show` prints it",
    notes: "Deliveries that wait for a retry fail.",
  })
    .argument("<app>", "name or id of the app")
    .action(async (which: string, { json }: { json?: boolean }) => {
      const webhook = await withDatabase(terminal, (database) =>
        database.write(async (trx) => {
          const app = await appNamed(trx, which);
          const { url } = await webhookOf(trx, app);
          await disableWebhook(trx, app.id, url, "an operator disabled the webhook", Date.now());
          return webhookOf(trx, app);
        }),
      );
      printResult(terminal, json, describeWebhook(webhook), `disabled: ${webhook.url}`);
    });
}

/** @throws OperatorError when the app has no webhook. */
async function webhookOf(db: Db, app: AppRow): Promise<StoredWebhook> {
  const webhook = await findWebhook(db, app.id);
  if (webhook === undefined) throw new OperatorError(`The app ${app.name} has no webhook.`);
  return webhook;
}

function describeWebhook(webhook: StoredWebhook) {
  return {
    app_id: webhook.app_id,
    url: webhook.url,
    events: webhook.events,
    disabled_at: time(webhook.disabled_at),
    created_at: time(webhook.created_at),
    updated_at: time(webhook.updated_at),
  };
}

export function webhookShow(terminal: Terminal): Command {
  return resultCommand("show", "Show the webhook of an app, without its secrets.", {
    examples: ["webhook show my-shop"],
    json: "{app_id, url, events, disabled_at, created_at, updated_at}. `events` is null when all are sent.",
  })
    .argument("<app>", "name or id of the app")
    .action(async (which: string, { json }: { json?: boolean }) => {
      const webhook = await withDatabase(terminal, async (database) =>
        webhookOf(database.read, await appNamed(database.read, which)),
      );
      const result = describeWebhook(webhook);
      const words = [
        `url:      ${result.url}`,
        `events:   ${result.events?.join(", ") ?? "all"}`,
        `disabled: ${result.disabled_at ?? "no"}`,
      ];
      printResult(terminal, json, result, words.join("\n"));
    });
}

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
          throw error instanceof ApiError ? new OperatorError(whyNotSent(error, id)) : error;
        }),
      );
      const result = describeDelivery(delivery);
      printResult(terminal, json, result, `queued: ${result.delivery_id}`);
    });
}

function whyNotSent(error: ApiError, id: string): string {
  return error.errorCode === "not_found"
    ? `There is no delivery with the id ${id}: it may have been pruned (RETAIN_DAYS, RETAIN_FAILED_DAYS). Or its app no longer has a webhook.`
    : "The webhook is disabled. Its app must register it again first: PUT /v1/webhook.";
}

function describeDelivery(delivery: LoggedDelivery) {
  return {
    delivery_id: delivery.id,
    app_id: delivery.app_id,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    request_id: delivery.request_id,
    status: delivery.status,
    tries: delivery.tries,
    response_status: delivery.response_status,
    response_body: delivery.response_body,
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
