import { type Command, Option } from "commander";

import { redeliverEvent } from "../commands/webhooks.ts";
import { ApiError } from "../domain/error-codes.ts";
import { DELIVERY_STATUSES, type DeliveryStatus } from "../domain/request.ts";
import { DEFAULT_EVENTS } from "../domain/events.ts";
import { OperatorError } from "../operate/operator-error.ts";
import type { AppRow } from "../store/db/schema.ts";
import type { Db } from "../store/db/sql.ts";
import { type LoggedDelivery, newestDeliveries } from "../store/outbox/deliveries.ts";
import { disableWebhook, findWebhook, type ListedWebhook, listWebhooks } from "../store/outbox/webhooks.ts";
import { withDatabase } from "./database.ts";
import { appNamed, readLimit } from "./options.ts";
import { printResult, resultCommand, table, type Terminal, time } from "./terminal.ts";

/** The option that chooses a webhook. */
const WHICH = ["--id <webhook-id>", "id of the webhook, from `webhook list` (default: the first webhook)"] as const;

interface One {
  json?: boolean;
  id?: string;
}

export function webhookList(terminal: Terminal): Command {
  return resultCommand("list", "List the webhooks of an app, without their secrets.", {
    examples: ["webhook list my-shop"],
    json: "[{id, app_id, url, events, collections, ...}], as `webhook show` prints them",
  })
    .argument("<app>", "name or id of the app")
    .action(async (which: string, { json }: One) => {
      const webhooks = await withDatabase(terminal, async (database) =>
        listWebhooks(database.read, (await appNamed(database.read, which)).id),
      );
      const result = webhooks.map(describeWebhook);
      const cells = result.map((row) => [row.id, row.url, row.disabled_at ?? "no", row.last_error ?? ""]);
      printResult(terminal, json, result, table(["ID", "URL", "DISABLED", "ERROR"], cells, "No webhooks found."));
    });
}

export function webhookDisable(terminal: Terminal): Command {
  return resultCommand("disable", "Stop deliveries to a webhook of an app until the app registers it again.", {
    examples: ["webhook disable my-shop"],
    json: "the webhook, as `webhook show` prints it",
    notes: "Deliveries that wait for a retry fail.",
  })
    .argument("<app>", "name or id of the app")
    .option(...WHICH)
    .action(async (which: string, { json, id }: One) => {
      const webhook = await withDatabase(terminal, (database) =>
        database.write(async (trx) => {
          const app = await appNamed(trx, which);
          await disableWebhook(trx, await webhookOf(trx, app, id), "an operator disabled the webhook", Date.now());
          return webhookOf(trx, app, id);
        }),
      );
      printResult(terminal, json, describeWebhook(webhook), `disabled: ${webhook.url}`);
    });
}

/** @param id undefined: the first. @throws OperatorError when the app has no such webhook. */
async function webhookOf(db: Db, app: AppRow, id?: string): Promise<ListedWebhook> {
  const webhook = await findWebhook(db, { id: id ?? app.id, app_id: app.id });
  if (webhook !== undefined) return webhook;
  if ((await listWebhooks(db, app.id)).length === 0) throw new OperatorError(`The app ${app.name} has no webhook.`);
  const which = id === undefined ? "first webhook (`/v1/webhook`)" : "webhook with this id";
  throw new OperatorError(
    `The app ${app.name} has no ${which}. Choose one with --id: \`webhook list ${app.name}\` lists them.`,
  );
}

function describeWebhook(webhook: ListedWebhook) {
  return {
    id: webhook.id,
    app_id: webhook.app_id,
    url: webhook.url,
    events: webhook.events,
    collections: webhook.collections,
    description: webhook.description,
    disabled_at: time(webhook.disabled_at),
    last_error: webhook.lastError,
    created_at: time(webhook.created_at),
    updated_at: time(webhook.updated_at),
  };
}

export function webhookShow(terminal: Terminal): Command {
  return resultCommand("show", "Show a webhook of an app, without its secrets.", {
    examples: ["webhook show my-shop"],
    json:
      "{id, app_id, url, events, collections, description, disabled_at, last_error, created_at, updated_at}. `events` is null " +
      "for the default types, `collections` for all contracts.",
  })
    .argument("<app>", "name or id of the app")
    .option(...WHICH)
    .action(async (which: string, { json, id }: One) => {
      const webhook = await withDatabase(terminal, async (database) =>
        webhookOf(database.read, await appNamed(database.read, which), id),
      );
      const result = describeWebhook(webhook);
      const words = [
        `id:          ${result.id}`,
        `url:         ${result.url}`,
        `events:      ${(result.events ?? DEFAULT_EVENTS).join(", ")}`,
        `collections: ${result.collections?.join(", ") ?? "all"}`,
        `description: ${result.description ?? "none"}`,
        `disabled:    ${result.disabled_at ?? "no"}`,
        `last error:  ${result.last_error ?? "none"}`,
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
    ? `There is no delivery with the id ${id}: it may have been pruned (RETAIN_DAYS, RETAIN_FAILED_DAYS). Or its webhook was removed.`
    : error.message;
}

function describeDelivery(delivery: LoggedDelivery) {
  return {
    delivery_id: delivery.id,
    webhook_id: delivery.webhook_id,
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
  id?: string;
  status?: DeliveryStatus;
  limit: number;
}

export function webhookDeliveries(terminal: Terminal): Command {
  return resultCommand("deliveries", "List the webhook deliveries of an app, newest first.", {
    examples: ["webhook deliveries my-shop --status failed"],
    json: "[{delivery_id, webhook_id, app_id, event_id, event_type, request_id, status, ...}]",
  })
    .argument("<app>", "name or id of the app")
    .option("--id <webhook-id>", "only deliveries to this webhook, also if it was removed (default: to all webhooks)")
    .addOption(new Option("--status <status>", "only deliveries in this status").choices(DELIVERY_STATUSES))
    .option("--limit <n>", "maximum number of deliveries", readLimit, 30)
    .action(async (which: string, { json, id, status, limit }: Options) => {
      const rows = await withDatabase(terminal, async ({ read }) => {
        const app = await appNamed(read, which);
        // Also of the first webhook if it is removed.
        const ids =
          id === undefined ? [app.id, ...(await listWebhooks(read, app.id)).map((webhook) => webhook.id)] : [id];
        const newest: LoggedDelivery[] = [];
        for (const one of new Set(ids))
          newest.push(
            ...(await newestDeliveries(read, { id: one, app_id: app.id }, { status: status ?? null, limit })),
          );
        return newest.sort((a, b) => b.seq - a.seq).slice(0, limit);
      });
      const result = rows.map(describeDelivery);
      const cells = result.map((row) => [
        row.delivery_id,
        row.webhook_id,
        row.event_type,
        row.status,
        row.tries.toString(),
        row.error ?? "",
        row.created_at ?? "",
      ]);
      const head = ["ID", "WEBHOOK", "EVENT", "STATUS", "TRIES", "ERROR", "CREATED"];
      printResult(terminal, json, result, table(head, cells, "No deliveries found."));
    });
}
