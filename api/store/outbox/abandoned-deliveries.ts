import { sql } from "kysely";

import type { WebhookKey } from "../db/schema.ts";
import type { Trx } from "../db/sql.ts";

/** Deliveries that one transaction ends: it takes about 20 ms, so that other writes do not wait. */
const CHUNK = 1_000;

/**
 * Ends the pending deliveries to a webhook, which is removed or disabled. A long queue is ended in chunks: the first one now,
 * the others by `closeAbandoned`. Until then no delivery of the webhook is sent.
 */
export async function abandonDeliveries(trx: Trx, webhook: WebhookKey, reason: string, now: number): Promise<void> {
  const { id, app_id } = webhook;
  const last = await trx
    .selectFrom("deliveries")
    .select("seq")
    .where("app_id", "=", app_id)
    .where("webhook_id", "=", id)
    .orderBy("seq", "desc")
    .limit(1)
    .executeTakeFirst();
  if (last === undefined) return;
  const abandoned = { webhook_id: id, app_id, up_to_seq: last.seq, reason };
  if ((await closeChunk(trx, abandoned, now)) < CHUNK) return;
  await trx
    .insertInto("abandoned_deliveries")
    .values(abandoned)
    .onConflict((conflict) => conflict.column("webhook_id").doUpdateSet({ up_to_seq: abandoned.up_to_seq, reason }))
    .execute();
}

/** Ends the next chunk of what was abandoned. @returns whether more may be left. */
export async function closeAbandoned(trx: Trx, now: number): Promise<boolean> {
  const abandoned = await trx
    .selectFrom("abandoned_deliveries")
    .selectAll()
    .orderBy("webhook_id")
    .limit(1)
    .executeTakeFirst();
  if (abandoned === undefined) return false;
  if ((await closeChunk(trx, abandoned, now)) < CHUNK)
    await trx.deleteFrom("abandoned_deliveries").where("webhook_id", "=", abandoned.webhook_id).execute();
  return true;
}

/** Whether a delivery is over although its row does not say so yet. */
export async function isAbandoned(trx: Trx, delivery: { webhook_id: string; seq: number }): Promise<boolean> {
  const row = await trx
    .selectFrom("abandoned_deliveries")
    .select("webhook_id")
    .where("webhook_id", "=", delivery.webhook_id)
    .where("up_to_seq", ">=", delivery.seq)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * The outer condition on the status matters on PostgreSQL: a delivery may have ended since it was found.
 * @returns how many deliveries it ended.
 */
async function closeChunk(
  trx: Trx,
  abandoned: { webhook_id: string; up_to_seq: number; reason: string },
  now: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    update deliveries set status = 'failed', next_at = null, error = ${abandoned.reason}, updated_at = ${now}
     where status = 'pending'
       and seq in (select seq from deliveries
                    where webhook_id = ${abandoned.webhook_id} and status = 'pending' and seq <= ${abandoned.up_to_seq}
                    order by seq limit ${CHUNK})`.execute(trx);
  return Number(numAffectedRows ?? 0n);
}
