import { type RawBuilder, sql } from "kysely";

import { abandonDeliveries } from "./abandoned-deliveries.ts";
import { type Db, forNoKeyUpdate, forShare, type Trx } from "../db/sql.ts";
import type { NamedEvent } from "../../domain/events.ts";
import type { WebhookKey, WebhookRow } from "../db/schema.ts";

/** A webhook's row, with its lists parsed. */
export interface StoredWebhook extends Omit<WebhookRow, "events" | "collections"> {
  /** null: `DEFAULT_EVENTS`. */
  events: NamedEvent[] | null;
  /** null: all. */
  collections: string[] | null;
}

/** A webhook, and how its deliveries go. */
export interface ListedWebhook extends StoredWebhook {
  /** Why a delivery did not succeed: the newest if it has failed for good, else one of the oldest that wait. null: they do. */
  lastError: string | null;
}

export function toWebhook(row: WebhookRow): StoredWebhook {
  return { ...row, events: toList(row.events) as NamedEvent[] | null, collections: toList(row.collections) };
}

function toList(text: string | null): string[] | null {
  return text === null ? null : (JSON.parse(text) as string[]);
}

function toText(list: readonly string[] | null): string | null {
  return list === null ? null : JSON.stringify(list);
}

/** Of the deliveries that wait, these are looked through for errors: the oldest are tried first. */
const SEARCHED = 100;

/** The webhooks of an app, the first one first. */
export async function listWebhooks(db: Db, appId: string): Promise<ListedWebhook[]> {
  const found = await selectListed(db, sql`webhooks.app_id = ${appId}`);
  const rankOf = ({ id }: ListedWebhook) => (id === appId ? "" : id);
  return found.sort((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1));
}

export async function findWebhook(db: Db, { id, app_id }: WebhookKey): Promise<ListedWebhook | undefined> {
  const [webhook] = await selectListed(db, sql`webhooks.id = ${id} and webhooks.app_id = ${app_id}`);
  return webhook;
}

async function selectListed(db: Db, condition: RawBuilder<unknown>): Promise<ListedWebhook[]> {
  const { rows } = await sql<WebhookRow & { newest: string | null; waiting: string | null }>`
    select webhooks.*,
           (select case when status = 'failed' then error end from deliveries
             where deliveries.app_id = webhooks.app_id and deliveries.webhook_id = webhooks.id
             order by deliveries.seq desc limit 1) as newest,
           (select error from (select seq, error from deliveries
                                where deliveries.webhook_id = webhooks.id and deliveries.status = 'pending'
                                order by deliveries.seq limit ${sql.lit(SEARCHED)}) as oldest
             where error is not null order by seq limit 1) as waiting
      from webhooks where ${condition}`.execute(db);
  return rows.map(({ newest, waiting, ...row }) => ({ ...toWebhook(row), lastError: newest ?? waiting }));
}

/** The webhook, which nobody changes or removes until the end of the transaction. */
export async function holdWebhook(trx: Trx, { id, app_id }: WebhookKey): Promise<StoredWebhook | undefined> {
  const { rows } = await sql<WebhookRow>`
    select * from webhooks where id = ${id} and app_id = ${app_id} ${forShare(trx)}`.execute(trx);
  const [row] = rows;
  return row && toWebhook(row);
}

/** Counts the webhooks of an app. Until the end of the transaction, no other call does so for this app. */
export async function countWebhooks(trx: Trx, appId: string): Promise<number> {
  await sql`select id from apps where id = ${appId} ${forNoKeyUpdate(trx)}`.execute(trx);
  const { rows } = await sql<{ count: number }>`
    select count(*) as "count" from webhooks where app_id = ${appId}`.execute(trx);
  return rows[0]?.count ?? 0;
}

export async function insertWebhook(trx: Trx, webhook: StoredWebhook): Promise<void> {
  const lists = { events: toText(webhook.events), collections: toText(webhook.collections) };
  await trx
    .insertInto("webhooks")
    .values({ ...webhook, ...lists })
    .execute();
}

/** What an app can change of a webhook. */
export type WebhookChange = {
  [Field in "url" | "events" | "collections" | "description"]?: StoredWebhook[Field] | undefined;
};

/** Changes some fields of an app's webhook. A URL enables it. @returns false when the app has no such webhook. */
export async function updateWebhook(
  trx: Trx,
  { id, app_id }: WebhookKey,
  change: WebhookChange,
  now: number,
): Promise<boolean> {
  const { url, events, collections, description } = change;
  const updated = await trx
    .updateTable("webhooks")
    .set({
      updated_at: now,
      ...(url === undefined ? {} : { url, disabled_at: null }),
      ...(events === undefined ? {} : { events: toText(events) }),
      ...(collections === undefined ? {} : { collections: toText(collections) }),
      ...(description === undefined ? {} : { description }),
    })
    .where("id", "=", id)
    .where("app_id", "=", app_id)
    .executeTakeFirst();
  return updated.numUpdatedRows === 1n;
}

/** @returns false when another process has changed the secrets, or the webhook is gone. */
export async function replaceSecrets(
  trx: Trx,
  id: string,
  change: { from: string; to: string; now: number },
): Promise<boolean> {
  const updated = await trx
    .updateTable("webhooks")
    .set({ secrets: change.to, updated_at: change.now })
    .where("id", "=", id)
    .where("secrets", "=", change.from)
    .executeTakeFirst();
  return updated.numUpdatedRows === 1n;
}

/**
 * Disables a webhook until the app sets its URL again. Pending deliveries end, so that a later registration does not
 * receive old events.
 * @returns false when it is not enabled with this URL.
 */
export async function disableWebhook(
  trx: Trx,
  webhook: WebhookKey & Pick<WebhookRow, "url">,
  reason: string,
  now: number,
): Promise<boolean> {
  const updated = await trx
    .updateTable("webhooks")
    .set({ disabled_at: now })
    .where("id", "=", webhook.id)
    .where("url", "=", webhook.url)
    .where("disabled_at", "is", null)
    .executeTakeFirst();
  if (updated.numUpdatedRows !== 1n) return false;
  await abandonDeliveries(trx, webhook, reason, now);
  return true;
}

/** Deletes a webhook of an app and ends its pending deliveries. @returns false when there was none. */
export async function deleteWebhook(trx: Trx, webhook: WebhookKey, now: number): Promise<boolean> {
  const deleted = await trx
    .deleteFrom("webhooks")
    .where("id", "=", webhook.id)
    .where("app_id", "=", webhook.app_id)
    .executeTakeFirst();
  if (deleted.numDeletedRows !== 1n) return false;
  await abandonDeliveries(trx, webhook, "the webhook was removed", now);
  return true;
}
