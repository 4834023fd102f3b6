import { randomUUID } from "node:crypto";

import { sql } from "kysely";

import type { Command } from "../../domain/command.ts";
import type { RequestFailureCode } from "../../domain/error-codes.ts";
import { toWireInteger } from "../../domain/numbers.ts";
import type { RequestType } from "../../domain/request.ts";
import type { RequestEvent } from "../../domain/event.ts";
import { countUp, counterKeys } from "../db/counters.ts";
import { insertDelivery } from "./deliveries.ts";
import type { Db, Trx } from "../db/engine.ts";
import type { DeliveryRow } from "../db/schema.ts";
import { toEventTypes } from "./webhooks.ts";

/** Body of a webhook and of an entry of the events feed. */
export interface EventBody {
  id: string;
  type: RequestEvent;
  request_id: string;
  request_type: RequestType;
  transaction_hash: string | null;
  /** When a collection or a token was created. */
  nft_collection?: string;
  /** When a token was created. */
  nft_token_id?: number | string;
  /** On `error`, and on `corrected` when the effect is gone. */
  error_code?: RequestFailureCode;
  created_at: string;
}

/** An entry of the events feed. */
export interface FeedEvent {
  position: number;
  body: EventBody;
}

interface Subject {
  id: string;
  app_id: string;
  type: RequestType;
  command: Command;
  transaction_hash: string | null;
  nft_collection: string | null;
  nft_token_id: string | null;
}

/**
 * Adds an event to the outbox, with a delivery where the app has a webhook, inside the transaction that makes it true.
 * The same event of the same request again changes nothing: `sent` may be reached twice, after a reorg. Only `corrected`
 * is told each time.
 */
export async function enqueueEvent(
  trx: Trx,
  request: Subject,
  type: RequestEvent,
  now: number,
  errorCode?: RequestFailureCode,
): Promise<void> {
  const id = randomUUID();
  const body: EventBody = {
    id,
    type,
    request_id: request.id,
    request_type: request.type,
    transaction_hash: request.transaction_hash,
    ...created(request),
    ...(errorCode === undefined ? {} : { error_code: errorCode }),
    created_at: new Date(now).toISOString(),
  };
  // The app's counter stays locked until the commit, so positions grow in the order of the commits: who reads the feed
  // up to one has seen all before it. (The row number is drawn earlier, and on PostgreSQL may become visible later.)
  const position = await countUp(trx, counterKeys.events(request.app_id));
  const event = await trx
    .insertInto("events")
    .values({
      id,
      app_id: request.app_id,
      position,
      request_id: request.id,
      type,
      body: JSON.stringify(body),
      created_at: now,
    })
    .onConflict((conflict) =>
      conflict.columns(["request_id", "type"]).where("type", "<>", sql.lit("corrected")).doNothing(),
    )
    .returning("seq")
    .executeTakeFirst();
  if (event === undefined) return;
  await enqueueDelivery(trx, { seq: event.seq, app_id: request.app_id, request_id: request.id, type }, now);
}

/** Deliveries exist only for apps that have a webhook for this type of event when the event happens. */
async function enqueueDelivery(
  trx: Trx,
  event: { seq: number; app_id: string; request_id: string; type: RequestEvent },
  now: number,
): Promise<void> {
  const webhook = await trx
    .selectFrom("webhooks")
    .select(["events", "disabled_at"])
    .where("app_id", "=", event.app_id)
    .executeTakeFirst();
  if (webhook === undefined || webhook.disabled_at !== null) return;
  const wanted = toEventTypes(webhook.events);
  if (wanted !== null && !wanted.includes(event.type)) return;
  await insertDelivery(trx, event, now);
}

/** An event that stands for nothing that happened: delivered, never in the feed. */
export async function enqueueTestEvent(trx: Trx, appId: string, now: number): Promise<DeliveryRow> {
  const id = randomUUID();
  const body = {
    id,
    type: "test",
    request_id: null,
    request_type: null,
    transaction_hash: null,
    created_at: new Date(now).toISOString(),
  };
  const event = await trx
    .insertInto("events")
    .values({
      id,
      app_id: appId,
      position: null,
      request_id: null,
      type: "test",
      body: JSON.stringify(body),
      created_at: now,
    })
    .returning(["seq", "app_id", "request_id"])
    .executeTakeFirstOrThrow();
  return insertDelivery(trx, event, now);
}

/** The app's events behind a position of its feed, oldest first. */
export async function eventsAfter(db: Db, appId: string, after: number, limit: number): Promise<FeedEvent[]> {
  const rows = await db
    .selectFrom("events")
    .select(["position", "body"])
    .where("app_id", "=", appId)
    .where("position", ">", after)
    .$narrowType<{ position: number }>()
    .orderBy("position")
    .limit(limit)
    .execute();
  return rows.map(({ position, body }) => ({ position, body: JSON.parse(body) as EventBody }));
}

function created(request: Subject): Pick<EventBody, "nft_collection" | "nft_token_id"> {
  const { command, nft_collection: collection, nft_token_id: tokenId } = request;
  if (command.kind === "create-collection") return collection === null ? {} : { nft_collection: collection };
  if (command.kind !== "mint-erc721" && command.kind !== "create-erc1155") return {};
  return {
    ...(collection === null ? {} : { nft_collection: collection }),
    ...(tokenId === null ? {} : { nft_token_id: toWireInteger(tokenId) }),
  };
}
