import type { Db, Trx } from "./engine.ts";
import type { WebhookRow } from "./schema.ts";

export async function findWebhook(db: Db, appId: string): Promise<WebhookRow | undefined> {
  return db.selectFrom("webhooks").selectAll().where("app_id", "=", appId).executeTakeFirst();
}

/** @returns false when the app has a webhook already. */
export async function insertWebhook(trx: Trx, webhook: WebhookRow): Promise<boolean> {
  const inserted = await trx
    .insertInto("webhooks")
    .values(webhook)
    .onConflict((conflict) => conflict.column("app_id").doNothing())
    .executeTakeFirst();
  return inserted.numInsertedOrUpdatedRows === 1n;
}

/** Changes where and what is sent, keeps the secrets, and lets a disabled webhook work again. */
export async function updateWebhook(
  trx: Trx,
  appId: string,
  change: { url: string; events: string | null; now: number },
): Promise<void> {
  await trx
    .updateTable("webhooks")
    .set({ url: change.url, events: change.events, disabled_at: null, updated_at: change.now })
    .where("app_id", "=", appId)
    .execute();
}

/** @returns false when there was none. */
export async function deleteWebhook(trx: Trx, appId: string): Promise<boolean> {
  const deleted = await trx.deleteFrom("webhooks").where("app_id", "=", appId).executeTakeFirst();
  return deleted.numDeletedRows === 1n;
}
