import { sql } from "kysely";

import { abandonDeliveries } from "./abandoned-deliveries.ts";
import { type Db, forShare, type Trx } from "../db/sql.ts";
import type { DefaultEvent } from "../../domain/events.ts";
import type { WebhookRow } from "../db/schema.ts";

/** A webhook's row, with its event types parsed. */
export interface StoredWebhook extends Omit<WebhookRow, "events"> {
  /** null: `DEFAULT_EVENTS`. */
  events: DefaultEvent[] | null;
}

/** @param text of the column `events`. */
export function toEventTypes(text: string | null): DefaultEvent[] | null {
  return text === null ? null : (JSON.parse(text) as DefaultEvent[]);
}

export async function findWebhook(db: Db, appId: string): Promise<StoredWebhook | undefined> {
  const row = await db.selectFrom("webhooks").selectAll().where("app_id", "=", appId).executeTakeFirst();
  return row && { ...row, events: toEventTypes(row.events) };
}

/** The app's webhook, which nobody changes or removes until the end of the transaction. */
export async function holdWebhook(trx: Trx, appId: string): Promise<StoredWebhook | undefined> {
  const { rows } = await sql<WebhookRow>`select * from webhooks where app_id = ${appId} ${forShare(trx)}`.execute(trx);
  const [row] = rows;
  return row && { ...row, events: toEventTypes(row.events) };
}

/** Stores an app's webhook. One that the app has keeps its secrets, gets the URL and the event types, and is enabled. */
export async function setWebhook(trx: Trx, webhook: StoredWebhook): Promise<StoredWebhook> {
  const { url, updated_at } = webhook;
  const events = webhook.events === null ? null : JSON.stringify(webhook.events);
  const row = await trx
    .insertInto("webhooks")
    .values({ ...webhook, events })
    .onConflict((conflict) => conflict.column("app_id").doUpdateSet({ url, events, disabled_at: null, updated_at }))
    .returningAll()
    .executeTakeFirstOrThrow();
  return { ...row, events: toEventTypes(row.events) };
}

/** @returns false when another process has changed the secrets, or the webhook is gone. */
export async function replaceSecrets(
  trx: Trx,
  appId: string,
  change: { from: string; to: string; now: number },
): Promise<boolean> {
  const updated = await trx
    .updateTable("webhooks")
    .set({ secrets: change.to, updated_at: change.now })
    .where("app_id", "=", appId)
    .where("secrets", "=", change.from)
    .executeTakeFirst();
  return updated.numUpdatedRows === 1n;
}

/**
 * Disables the webhook until the app registers a URL again. Pending deliveries end, so that a later registration does not
 * receive old events.
 * @returns false when no webhook with this URL is enabled.
 */
export async function disableWebhook(
  trx: Trx,
  appId: string,
  url: string,
  reason: string,
  now: number,
): Promise<boolean> {
  const updated = await trx
    .updateTable("webhooks")
    .set({ disabled_at: now })
    .where("app_id", "=", appId)
    .where("url", "=", url)
    .where("disabled_at", "is", null)
    .executeTakeFirst();
  if (updated.numUpdatedRows !== 1n) return false;
  await abandonDeliveries(trx, appId, reason, now);
  return true;
}

/** Deletes the webhook and ends its pending deliveries. @returns false when there was none. */
export async function deleteWebhook(trx: Trx, appId: string, now: number): Promise<boolean> {
  const deleted = await trx.deleteFrom("webhooks").where("app_id", "=", appId).executeTakeFirst();
  if (deleted.numDeletedRows !== 1n) return false;
  await abandonDeliveries(trx, appId, "the webhook was removed", now);
  return true;
}
