import { sql } from "kysely";

import { type Command, movementOf } from "../../domain/command.ts";
import type { RequestFailureCode } from "../../domain/error-codes.ts";
import { toWireInteger } from "../../domain/token.ts";
import type { NamedEvent, RequestEvent, TokenEvent } from "../../domain/events.ts";
import type { RequestType } from "../../domain/request.ts";
import { orderedUuid } from "../../shared/ids.ts";
import { advanceSequences, counterKeys } from "../db/counters.ts";
import { forKeyShare, rowSet, type Trx } from "../db/sql.ts";
import type { DeliveryRow, WebhookKey } from "../db/schema.ts";
import { insertDelivery } from "./deliveries.ts";
import { enqueueDeliveries } from "./enqueue-deliveries.ts";

/** Body of a webhook and of an entry of the events feed, about a request. */
export interface EventBody {
  id: string;
  type: RequestEvent;
  request_id: string;
  request_type: RequestType;
  /** When the request has one. */
  reference?: string;
  transaction_hash: string | null;
  /** Absent in events that versions before 0.4.0 stored. */
  contract_address?: string | null;
  token_id?: number | string | null;
  quantity?: number | string | null;
  from_address?: string | null;
  to_address?: string | null;
  /** Never stored: `withUsers` adds them. */
  from_user?: string | null;
  to_user?: string | null;
  /** When a collection or a token was created. */
  nft_collection?: string;
  /** When a token was created. */
  nft_token_id?: number | string;
  /** On `error` and on `in_block` of a call that failed, and on `corrected` when the effect is gone. */
  error_code?: RequestFailureCode;
  /** On `in_block`: the block. On `dropped`: the block that is not on the chain any more. */
  block_number?: number;
  created_at: string;
}

/** Body of the event of a movement of tokens. */
export interface TokenEventBody {
  id: string;
  type: TokenEvent;
  /** The app's request that caused it; null: none. */
  request_id: string | null;
  contract_address: string;
  token_id: number | string;
  quantity: number | string;
  /** null: minted. */
  from_address: string | null;
  /** null: burnt. */
  to_address: string | null;
  transaction_hash: string;
  block_number: number;
  block_time: string;
  log_index: number;
  /** Position in the log: one log can move many ids. */
  batch_index: number;
  created_at: string;
}

/** Body of the event that corrects such an event. */
export interface TokenCorrectionBody extends Omit<TokenEventBody, "type"> {
  type: "corrected";
  /** The id of the event that is corrected. */
  corrects: string;
}

/** Body of the event that names blocks, the first and the last one, whose movements by strangers have no events. */
export interface GapBody {
  id: string;
  type: "gap";
  request_id: null;
  from_block: number;
  to_block: number;
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
  blockNumber?: number | undefined;
}

/**
 * Adds events of requests to the outbox in their order, inside the transaction that makes them true. An event that its request already
 * has is left out, if a request has it only once. A request takes each of its other steps once; this guards it.
 */
export async function enqueueEvents(trx: Trx, events: readonly NewEvent[], now: number): Promise<void> {
  const stored = events.map((event): EventToStore => {
    const { request, type } = event;
    return {
      body: bodyOf(event, now),
      appId: request.app_id,
      requestId: request.id,
      type,
      subject: request.id,
      collection: collectionOf(request),
      blockNumber: null,
      corrects: null,
    };
  });
  await storeEvents(trx, stored, now);
}

/** The contract that a request is about; null: a collection that is not created yet. */
function collectionOf({ command, nft_collection: made }: EventSubject): string | null {
  if (command.kind === "create-collection") return made;
  return "collection" in command ? command.collection : command.contract;
}

/** An event that is ready to be stored. `EventRow` and `EventToDeliver` say what the fields mean. */
export interface EventToStore {
  body: { id: string };
  appId: string;
  requestId: string | null;
  type: NamedEvent;
  subject: string | null;
  collection: string | null;
  blockNumber: number | null;
  corrects: string | null;
}

const COLUMNS = {
  id: "text",
  app_id: "text",
  position: "integer",
  request_id: "text",
  type: "text",
  body: "text",
  block_number: "integer",
  corrects: "text",
} as const;

/** Adds events to the feeds of their apps, in their order, with a delivery to each webhook that wants them. */
export async function storeEvents(trx: Trx, events: readonly EventToStore[], now: number): Promise<void> {
  if (events.length === 0) return;
  const positions = await nextPositions(trx, events);
  const rows = events.map(({ body, appId, requestId, type, blockNumber, corrects }, index) => ({
    id: body.id,
    app_id: appId,
    position: positions[index] ?? null,
    request_id: requestId,
    type,
    body: JSON.stringify(body),
    block_number: blockNumber,
    corrects,
  }));
  const { rows: inserted } = await sql<{ id: string; seq: number }>`
    insert into events (id, app_id, position, request_id, type, body, block_number, corrects, created_at)
    select id, app_id, position, request_id, type, body, block_number, corrects, ${now}
      from ${rowSet(trx, COLUMNS, rows)} as input where true order by ord
    on conflict (request_id, type) where type in ('sent', 'completed', 'error') do nothing
    returning id, seq`.execute(trx);
  const seqs = new Map(inserted.map(({ id, seq }) => [id, seq]));
  const toDeliver = events.flatMap(({ body, appId, requestId, type, subject, collection }) => {
    const seq = seqs.get(body.id);
    return seq === undefined ? [] : [{ seq, app_id: appId, request_id: requestId, type, subject, collection }];
  });
  await enqueueDeliveries(trx, toDeliver, now);
}

/** Whom and what the request concerns. */
function partiesOf(request: EventSubject) {
  const { from, to, quantity } = movementOf(request.command);
  return {
    contract_address: collectionOf(request),
    token_id: request.nft_token_id === null ? null : toWireInteger(request.nft_token_id),
    quantity: quantity === null ? null : toWireInteger(quantity),
    from_address: from,
    to_address: to,
  };
}

function bodyOf({ request, type, errorCode, blockNumber }: NewEvent, now: number): EventBody {
  return {
    id: orderedUuid(),
    type,
    request_id: request.id,
    request_type: request.type,
    ...(request.reference === null ? {} : { reference: request.reference }),
    transaction_hash: request.transaction_hash,
    ...partiesOf(request),
    ...created(request),
    ...(errorCode === undefined ? {} : { error_code: errorCode }),
    ...(blockNumber === undefined ? {} : { block_number: blockNumber }),
    created_at: new Date(now).toISOString(),
  };
}

/**
 * The next positions in the feeds of the events' apps. An app's sequence stays locked until the commit, so positions
 * grow in commit order: a reader at a position has seen every event before it. (Row numbers are drawn earlier and may
 * become visible later on PostgreSQL.)
 */
async function nextPositions(trx: Trx, events: readonly EventToStore[]): Promise<number[]> {
  const counts = new Map<string, number>();
  for (const { appId } of events) {
    const key = counterKeys.events(appId);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const after = await advanceSequences(trx, counts);
  const next = new Map([...counts].map(([key, count]) => [key, (after.get(key) ?? 0) - count]));
  return events.map(({ appId }) => {
    const key = counterKeys.events(appId);
    const position = (next.get(key) ?? 0) + 1;
    next.set(key, position);
    return position;
  });
}

/** Adds a test event for a webhook. It is delivered, but it is not in the feed. */
export async function enqueueTestEvent(trx: Trx, webhook: WebhookKey, now: number): Promise<DeliveryRow> {
  const id = orderedUuid();
  const nothing = { request_id: null, request_type: null, transaction_hash: null };
  const body = JSON.stringify({ id, type: "test", ...nothing, created_at: new Date(now).toISOString() });
  const { app_id } = webhook;
  const { seq } = await trx
    .insertInto("events")
    .values({ id, app_id, position: null, request_id: null, type: "test", body, created_at: now })
    .returning("seq")
    .executeTakeFirstOrThrow();
  const delivery = { event_seq: seq, app_id, webhook_id: webhook.id, request_id: null, subject: null };
  return insertDelivery(trx, delivery, now);
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
