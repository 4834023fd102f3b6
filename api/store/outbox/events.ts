import { sql } from "kysely";

import type { Command } from "../../domain/command.ts";
import type { RequestFailureCode } from "../../domain/error-codes.ts";
import { toWireInteger } from "../../domain/token.ts";
import type { RequestEvent, RequestType } from "../../domain/request.ts";
import { orderedUuid } from "../../shared/ids.ts";
import { advanceSequences, counterKeys } from "../db/counters.ts";
import { forKeyShare, forShare, rowSet, type SetColumns, textSet, type Trx } from "../db/sql.ts";
import type { DeliveryRow, EventRow, WebhookRow } from "../db/schema.ts";
import { insertDeliveries, insertDelivery } from "./deliveries.ts";
import { toEventTypes } from "./webhooks.ts";

/** Body of a webhook and of an entry of the events feed. */
export interface EventBody {
  id: string;
  type: RequestEvent;
  request_id: string;
  request_type: RequestType;
  /** When the request has one. */
  reference?: string;
  transaction_hash: string | null;
  /** When a collection or a token was created. */
  nft_collection?: string;
  /** When a token was created. */
  nft_token_id?: number | string;
  /** On `error`, and on `corrected` when the effect is gone. */
  error_code?: RequestFailureCode;
  created_at: string;
}

/** The request that an event is about, as it stands after the change that the event announces. */
export interface EventSubject {
  id: string;
  app_id: string;
  type: RequestType;
  reference: string | null;
  command: Command;
  transaction_hash: string | null;
  nft_collection: string | null;
  nft_token_id: string | null;
}

interface NewEvent {
  request: EventSubject;
  type: RequestEvent;
  errorCode?: RequestFailureCode | undefined;
}

/**
 * Adds events to the outbox in their order, with a delivery each where the app has a webhook, inside the transaction
 * that makes them true. An event that its request already has is left out: only `corrected` may repeat. A request takes each of
 * its other steps once; this guards it.
 */
export async function enqueueEvents(trx: Trx, events: readonly NewEvent[], now: number): Promise<void> {
  if (events.length === 0) return;
  const positions = await nextPositions(trx, events);
  const rows = events.map((event, index) => {
    const body = bodyOf(event, now);
    return {
      id: body.id,
      app_id: event.request.app_id,
      position: positions[index] ?? null,
      request_id: event.request.id,
      type: event.type,
      body: JSON.stringify(body),
    };
  });
  const columns = { id: "text", app_id: "text", position: "integer", request_id: "text", type: "text", body: "text" };
  const { rows: inserted } = await sql<StoredEvent>`
    insert into events (id, app_id, position, request_id, type, body, created_at)
    select id, app_id, position, request_id, type, body, ${now}
      from ${rowSet(trx, columns as SetColumns<keyof typeof columns>, rows)} as input where true order by ord
    on conflict (request_id, type) where type <> 'corrected' do nothing
    returning seq, app_id, request_id, type`.execute(trx);
  await enqueueDeliveries(trx, inserted, now);
}

function bodyOf({ request, type, errorCode }: NewEvent, now: number): EventBody {
  return {
    id: orderedUuid(),
    type,
    request_id: request.id,
    request_type: request.type,
    ...(request.reference === null ? {} : { reference: request.reference }),
    transaction_hash: request.transaction_hash,
    ...created(request),
    ...(errorCode === undefined ? {} : { error_code: errorCode }),
    created_at: new Date(now).toISOString(),
  };
}

/**
 * The next positions in the feeds of the events' apps. An app's sequence stays locked until the commit, so positions
 * grow in commit order: a reader at a position has seen every event before it. (Row numbers are drawn earlier and may
 * become visible later on PostgreSQL.)
 */
async function nextPositions(trx: Trx, events: readonly NewEvent[]): Promise<number[]> {
  const counts = new Map<string, number>();
  for (const { request } of events) {
    const key = counterKeys.events(request.app_id);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const after = await advanceSequences(trx, counts);
  const next = new Map([...counts].map(([key, count]) => [key, (after.get(key) ?? 0) - count]));
  return events.map(({ request }) => {
    const key = counterKeys.events(request.app_id);
    const position = (next.get(key) ?? 0) + 1;
    next.set(key, position);
    return position;
  });
}

type StoredEvent = Pick<EventRow, "seq" | "app_id" | "request_id" | "type">;

/**
 * Adds a delivery only if the app has an enabled webhook for this type of event now. The webhook stays so until the commit:
 * whoever disables or removes it ends this delivery too.
 */
async function enqueueDeliveries(trx: Trx, events: StoredEvent[], now: number): Promise<void> {
  if (events.length === 0) return;
  const apps = new Set(events.map((event) => event.app_id));
  const { rows } = await sql<Pick<WebhookRow, "app_id" | "events">>`
    select app_id, events from webhooks
     where disabled_at is null and app_id in ${textSet(trx, apps)}
     order by app_id ${forShare(trx)}`.execute(trx);
  const wanted = new Map(rows.map((row) => [row.app_id, toEventTypes(row.events)]));
  const delivered = events.filter((event) => {
    const types = wanted.get(event.app_id);
    return types === null || types?.some((type) => type === event.type) === true;
  });
  // The database returns the rows in any order, but the events of one request must be delivered in order.
  delivered.sort((a, b) => a.seq - b.seq);
  await insertDeliveries(trx, delivered, now);
}

/** Adds a test event. It is delivered, but it is not in the feed. */
export async function enqueueTestEvent(trx: Trx, appId: string, now: number): Promise<DeliveryRow> {
  const id = orderedUuid();
  const nothing = { request_id: null, request_type: null, transaction_hash: null };
  const body = JSON.stringify({ id, type: "test", ...nothing, created_at: new Date(now).toISOString() });
  const event = await trx
    .insertInto("events")
    .values({ id, app_id: appId, position: null, request_id: null, type: "test", body, created_at: now })
    .returning(["seq", "app_id", "request_id"])
    .executeTakeFirstOrThrow();
  return insertDelivery(trx, event, now);
}

/** Keeps an event from being pruned until the end of the transaction. @returns false when it is gone. */
export async function holdEvent(trx: Trx, seq: number): Promise<boolean> {
  const { rows } = await sql`select seq from events where seq = ${seq} ${forKeyShare(trx)}`.execute(trx);
  return rows.length > 0;
}

function created(request: EventSubject): Pick<EventBody, "nft_collection" | "nft_token_id"> {
  const { command, nft_collection: collection, nft_token_id: tokenId } = request;
  if (command.kind === "create-collection") return collection === null ? {} : { nft_collection: collection };
  if (command.kind !== "mint-erc721" && command.kind !== "create-erc1155") return {};
  return {
    ...(collection === null ? {} : { nft_collection: collection }),
    ...(tokenId === null ? {} : { nft_token_id: toWireInteger(tokenId) }),
  };
}
