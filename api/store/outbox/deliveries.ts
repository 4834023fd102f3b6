import { sql } from "kysely";

import type { EventType } from "../../domain/events.ts";
import type { DeliveryStatus } from "../../domain/request.ts";
import { orderedUuid } from "../../shared/ids.ts";
import { CounterDeltas, counterKeys, readCounter } from "../db/counters.ts";
import { AT_ONCE } from "../db/due.ts";
import { type Page, pageOf, type PageQuery, rowsToFetch, rowsToSkip } from "../db/pages.ts";
import { unparkRows } from "../db/parked-rows.ts";
import type { DeliveryRow, WebhookKey } from "../db/schema.ts";
import { type Db, forKeyShare, rowSet, type Trx } from "../db/sql.ts";
import { findWallets } from "../apps/wallets.ts";
import { isAbandoned } from "./abandoned-deliveries.ts";
import { textsWithUsers } from "./event-users.ts";

/** A delivery with its event. */
export interface LoggedDelivery extends DeliveryRow {
  eventId: string;
  /** As the event's body has it. */
  eventType: EventType;
}

function rows(db: Db) {
  return db.selectFrom("deliveries").selectAll();
}

/** Adds the events to the chosen deliveries. Only these are joined, not the rows that an offset skips. */
function withEvents(db: Db, chosen: ReturnType<typeof rows>) {
  return db
    .selectFrom(chosen.as("delivery"))
    .innerJoin("events", "events.seq", "delivery.event_seq")
    .selectAll("delivery")
    .select("events.id as eventId")
    .select(sql<EventType>`case when events.corrects is null then events.type else 'corrected' end`.as("eventType"));
}

function rowsOf(db: Db, webhook: WebhookKey) {
  return rows(db).where("app_id", "=", webhook.app_id).where("webhook_id", "=", webhook.id);
}

/** A webhook's deliveries, newest first. */
export async function listDeliveries(db: Db, webhook: WebhookKey, page: PageQuery): Promise<Page<LoggedDelivery>> {
  const total = await readCounter(db, counterKeys.deliveries(webhook.id));
  let query = rowsOf(db, webhook);
  if (page.after !== null) query = query.where("seq", "<", page.after);
  const chosen = query.orderBy("seq", "desc").limit(rowsToFetch(page)).offset(rowsToSkip(page));
  const found = await withEvents(db, chosen).orderBy("delivery.seq", "desc").execute();
  return pageOf(found, total, page, (row) => row.seq);
}

/** The newest deliveries of a webhook, for the operator. */
export async function newestDeliveries(
  db: Db,
  webhook: WebhookKey,
  filter: { status: DeliveryStatus | null; limit: number },
): Promise<LoggedDelivery[]> {
  const { status, limit } = filter;
  const ofStatus = () =>
    rows(db)
      .where("webhook_id", "=", webhook.id)
      // A literal, and no index of the app, so that the partial indexes are used.
      .where("status", "=", sql.lit(status))
      .where(sql`app_id || ''`, "=", webhook.app_id);
  const query = status === null ? rowsOf(db, webhook) : ofStatus();
  const chosen = query.orderBy("seq", "desc").limit(limit);
  return withEvents(db, chosen).orderBy("delivery.seq", "desc").execute();
}

/** @param appId null: any app's (for the operator). */
export async function findDelivery(db: Db, appId: string | null, id: string): Promise<LoggedDelivery | undefined> {
  let query = rows(db).where("id", "=", id);
  if (appId !== null) query = query.where("app_id", "=", appId);
  return withEvents(db, query).executeTakeFirst();
}

/** What is sent, and to which webhook. */
export type NewDelivery = Pick<DeliveryRow, "event_seq" | "app_id" | "webhook_id" | "request_id" | "subject">;

const NEW = {
  id: "text",
  event_seq: "integer",
  app_id: "text",
  webhook_id: "text",
  request_id: "text",
  subject: "text",
} as const;

/** Adds deliveries that are due at once, in their order. @returns their ids. */
export async function insertDeliveries(trx: Trx, deliveries: readonly NewDelivery[], now: number): Promise<string[]> {
  if (deliveries.length === 0) return [];
  const rows = deliveries.map(({ event_seq, app_id, webhook_id, request_id, subject }) => ({
    id: orderedUuid(),
    ...{ event_seq, app_id, webhook_id, request_id, subject },
  }));
  await sql`
    insert into deliveries (id, event_seq, app_id, webhook_id, request_id, subject, status, tries, next_at, created_at, updated_at)
    select id, event_seq, app_id, webhook_id, request_id, subject, 'pending', 0, ${AT_ONCE}, ${now}, ${now}
      from ${rowSet(trx, NEW, rows)} as input order by ord`.execute(trx);
  const counters = new CounterDeltas();
  for (const { webhook_id } of rows) counters.add(counterKeys.deliveries(webhook_id), 1);
  await counters.flush(trx);
  return rows.map(({ id }) => id);
}

/** Adds one delivery, due at once. */
export async function insertDelivery(trx: Trx, delivery: NewDelivery, now: number): Promise<DeliveryRow> {
  const [id = ""] = await insertDeliveries(trx, [delivery], now);
  return rows(trx).where("id", "=", id).executeTakeFirstOrThrow();
}

/** The longest wait between two tries of a delivery, with its jitter, in milliseconds. */
export const LONGEST_DELIVERY_WAIT = 11 * 3_600_000;

/** The result of one try. */
export interface TryResult {
  /** HTTP status; null: there was no answer. */
  responseStatus: number | null;
  /** How the body of the answer begins, as text that every database can store; null: it had none. */
  responseBody: string | null;
  /** Why the try failed; null: it succeeded. */
  error: string | null;
  /** null: no further try. */
  nextAt: number | null;
}

const RESULT = {
  id: "text",
  fence: "integer",
  status: "text",
  next_at: "integer",
  response_status: "integer",
  response_body: "text",
  error: "text",
} as const;

/** A delivery with its fencing token, and the result of its try. */
interface TriedDelivery {
  id: string;
  fence: number;
  result: TryResult;
}

/**
 * Stores the results of tries. A delivery that another process has taken over, or that is over, stays as it is. The fencing
 * token grows, so a result that is stored again, because its commit was lost, counts once.
 * @returns the ids of the deliveries whose results were stored.
 */
export async function recordTries(trx: Trx, tried: readonly TriedDelivery[], now: number): Promise<Set<string>> {
  if (tried.length === 0) return new Set();
  const rows = tried.map(({ id, fence, result: { responseStatus, responseBody, error, nextAt } }) => ({
    id,
    fence,
    error,
    next_at: nextAt,
    response_status: responseStatus,
    response_body: responseBody,
    status: error === null ? "delivered" : nextAt === null ? "failed" : "pending",
  }));
  const { rows: recorded } = await sql<Pick<DeliveryRow, "id" | "seq" | "status" | "webhook_id" | "subject">>`
    update deliveries
       set status = input.status, tries = deliveries.tries + 1, fence = deliveries.fence + 1, next_at = input.next_at,
           response_status = input.response_status, response_body = input.response_body, error = input.error, updated_at = ${now},
           holder = null, crashes = 0
      from ${rowSet(trx, RESULT, rows)} as input
     where deliveries.id = input.id and deliveries.fence = input.fence and deliveries.status = 'pending'
    returning deliveries.id, deliveries.seq, deliveries.status, deliveries.webhook_id, deliveries.subject`.execute(trx);
  await releaseNext(
    trx,
    recorded.flatMap(({ seq, status, webhook_id, subject }) =>
      status === "pending" || subject === null ? [] : [{ seq, webhook_id, subject }],
    ),
  );
  await unparkRows(trx, "delivery", recorded);
  return new Set(recorded.map(({ id }) => id));
}

/** The deliveries that waited for these are due now. */
async function releaseNext(
  trx: Trx,
  over: readonly { seq: number; webhook_id: string; subject: string }[],
): Promise<void> {
  if (over.length === 0) return;
  await sql`
    update deliveries set next_at = ${AT_ONCE}
     where status = 'pending'
       and seq in (select (select next.seq from deliveries as next
                            where next.webhook_id = input.webhook_id and next.subject = input.subject
                              and next.seq > input.seq and next.status = 'pending'
                            order by next.seq limit 1)
                     from ${rowSet(trx, { seq: "integer", webhook_id: "text", subject: "text" }, over)} as input)`.execute(
    trx,
  );
}

/**
 * Sends an event again to the webhook of a delivery. A delivery that has ended gets a new one; a pending delivery becomes due at once.
 */
export async function redeliver(trx: Trx, delivery: DeliveryRow, now: number): Promise<DeliveryRow> {
  const waiting =
    delivery.status !== "pending" || (await isAbandoned(trx, delivery))
      ? undefined
      : await trx
          .updateTable("deliveries")
          .set({ next_at: AT_ONCE, updated_at: now })
          .where("id", "=", delivery.id)
          // It may have ended since it was read.
          .where("status", "=", "pending")
          .returningAll()
          .executeTakeFirst();
  return waiting ?? insertDelivery(trx, delivery, now);
}

/** The newest failed deliveries that `redeliverFailed` looks through. */
const SEARCHED = 10_000;
/** Events that it sends again at once. */
const RESENT = 1_000;

/**
 * Sends the events of a webhook's failed deliveries again that no later delivery to it has, the oldest first.
 * @returns how many, and whether there are more.
 */
export async function redeliverFailed(
  trx: Trx,
  webhookId: string,
  now: number,
): Promise<{ redelivered: number; more: boolean }> {
  const { rows: found } = await sql<NewDelivery>`
    select failed.event_seq, failed.app_id, failed.webhook_id, failed.request_id, failed.subject
      from (select * from deliveries where webhook_id = ${webhookId} and status = 'failed'
             order by seq desc limit ${SEARCHED}) as failed
      join events as event on event.seq = failed.event_seq
     where not exists (select 1 from deliveries as later
                        where later.event_seq = failed.event_seq and later.webhook_id = failed.webhook_id
                          and later.seq > failed.seq)
     order by failed.seq limit ${RESENT + 1} ${forKeyShare(trx, "event")}`.execute(trx);
  const resent = found.slice(0, RESENT);
  await insertDeliveries(trx, resent, now);
  return { redelivered: resent.length, more: found.length > resent.length };
}

/** The body that a call for the delivery would have now. @param delivery of the caller's app. */
export async function payloadOf(db: Db, delivery: Pick<DeliveryRow, "event_seq" | "app_id">): Promise<string> {
  const { body: text } = await db
    .selectFrom("events")
    .select("body")
    .where("seq", "=", delivery.event_seq)
    .executeTakeFirstOrThrow();
  const [payload = text] = await textsWithUsers((calls) => findWallets(db, calls), [{ appId: delivery.app_id, text }]);
  return payload;
}
