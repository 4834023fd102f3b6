import type { Command } from "commander";

import { OperatorError } from "../../operator/operator-error.ts";
import type { AppRow } from "../../store/db/schema.ts";
import { findWebhook, type StoredWebhook } from "../../store/outbox/webhooks.ts";
import type { Db } from "../../store/db/engine.ts";
import { withDatabase } from "../database.ts";
import { appNamed } from "../find-app.ts";
import { printResult, resultCommand, type Terminal, time } from "../terminal.ts";

/** @throws OperatorError when the app has no webhook. */
export async function webhookOf(db: Db, app: AppRow): Promise<StoredWebhook> {
  const webhook = await findWebhook(db, app.id);
  if (webhook === undefined) throw new OperatorError(`The app ${app.name} has no webhook.`);
  return webhook;
}

export function describeWebhook(webhook: StoredWebhook) {
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
