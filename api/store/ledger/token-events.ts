import { sql } from "kysely";

import { type TokenEvent, tokenEventOf } from "../../domain/events.ts";
import { toWireInteger } from "../../domain/token.ts";
import { crashPoint } from "../../shared/crash-point.ts";
import { orderedUuid } from "../../shared/ids.ts";
import { checkpointOf, readMeta, writeMeta } from "../db/meta.ts";
import type { TransferRow } from "../db/schema.ts";
import type { Db, Trx } from "../db/sql.ts";
import { type EventToStore, storeEvents, type TokenCorrectionBody, type TokenEventBody } from "../outbox/events.ts";
import { agreedBlock } from "./blocks.ts";
import { rewindStrangers, StrangerWindows } from "./stranger-windows.ts";

/*
 * Each movement of a token becomes an event of each app that it concerns, once its block is final. `meta` has the place on the chain up
 * to which this is done. One transaction makes events and moves the place on, under the lock of the ledger: so each movement
 * has its event exactly once, whatever process dies when.
 */

/** Movements whose events one commit makes. A movement concerns at most three apps. */
const MOST_MOVES = 2_000;

/** A place in the order of the chain: everything up to it has its events. */
interface Place {
  block: number;
  log: number;
  /** Position in the log. */
  sub: number;
}

/** In place of a block: the newest that is final when the chain is read next. */
const HEAD = "head";
/** Higher than any log of a block. */
const END = 2_147_483_647;

async function readPlace(db: Db): Promise<Place | null> {
  const text = await readMeta(db, "token_events_to");
  if (text === null) return null;
  const [block = 0, log = END, sub = 0] = text.split("/").map(Number);
  return { block, log, sub };
}

async function writePlace(trx: Trx, { block, log, sub }: Place): Promise<void> {
  const parts = log === END ? [block] : [block, log, sub];
  await writeMeta(trx, "token_events_to", parts.join("/"));
}

/**
 * From now on no movement gets an event that is in a final block when the chain is read next, and no roll-back until then sends
 * corrections. For a database that reads blocks again whose events were sent already, perhaps by another database. Perhaps not all were
 * sent: so an app that has movements in blocks without events gets one `gap` with these blocks.
 */
export async function skipTokenEvents(trx: Trx): Promise<void> {
  await writeMeta(trx, "token_events_skipped_to", HEAD);
}

/** Whether blocks are read again whose events were sent before: see `skipTokenEvents`. */
export async function isReadAgain(db: Db): Promise<boolean> {
  return (await readMeta(db, "token_events_skipped_to")) === HEAD;
}

/** @returns the newest block whose movements get no events. @param final the newest block that is final. */
async function skippedTo(trx: Trx, final: number): Promise<number> {
  const known = await readMeta(trx, "token_events_skipped_to");
  if (known !== HEAD) return Number(known ?? 0);
  await writeMeta(trx, "token_events_skipped_to", final.toString());
  return final;
}

/** Whether final blocks are stored whose events are not made. */
export async function lacksTokenEvents(db: Db): Promise<boolean> {
  const place = await readPlace(db);
  return place !== null && ((await isReadAgain(db)) || isBefore(place, await newestFinal(db)));
}

/** The newest block that is stored and final. */
async function newestFinal(db: Db): Promise<number> {
  return agreedBlock(db, await checkpointOf(db));
}

function isBefore({ block, log }: Place, end: number): boolean {
  return block < end || (block === end && log !== END);
}

/**
 * Makes the events of movements in final blocks that are stored. The caller's transaction has locked the ledger.
 * @param deep the newest block that is deep enough to be final, also if it is not stored.
 * @param mostStrangers movements by strangers that get events, of one app in one window of blocks.
 * @returns whether there are more.
 */
export async function makeTokenEvents(
  trx: Trx,
  { deep, mostStrangers }: { deep: number; mostStrangers: number },
  now: number,
): Promise<boolean> {
  const place = await readPlace(trx);
  if (place === null) return false;
  const end = await newestFinal(trx);
  const skipped = await skippedTo(trx, Math.max(deep, end));
  if (!isBefore(place, end)) return false;
  const moves = await movesAfter(trx, place, end);
  const last = moves.at(-1);
  const more = moves.length === MOST_MOVES && last !== undefined;
  const events = moves.flatMap((move) => eventsOf(move, now));
  const strangers = await StrangerWindows.read(trx, events, skipped);
  const admitted = events.filter((event) => strangers.admit(event, mostStrangers));
  const gaps = await strangers.close(trx, more ? last.block_number - 1 : end, now);
  await storeEvents(trx, [...admitted.map(({ event }) => event), ...gaps], now);
  if (admitted.length > 0) crashPoint("indexer:events");
  await writePlace(
    trx,
    more ? { block: last.block_number, log: last.log_index, sub: last.sub_index } : { block: end, log: END, sub: 0 },
  );
  return more;
}

/** A movement, and the apps that it concerns. */
interface Move extends Omit<TransferRow, "id"> {
  /** The app of the collection; null: another party deployed the contract, and no app had adopted it. */
  collection_app: string | null;
  /** The apps of the sender and of the receiver, if these are wallets in whose history the movement is. */
  sender_app: string | null;
  receiver_app: string | null;
  /** The app whose request made the movement. */
  request_app: string | null;
}

async function movesAfter(trx: Trx, { block, log, sub }: Place, end: number): Promise<Move[]> {
  const { rows } = await sql<Move>`
    select move.*, collection.app_id as collection_app, sender.app_id as sender_app, receiver.app_id as receiver_app,
           request.app_id as request_app
      from (select * from transfers
             where (block_number, log_index, sub_index) > (${block}, ${log}, ${sub}) and block_number <= ${end}
             order by block_number, log_index, sub_index limit ${MOST_MOVES}) as move
      left join collections as collection on collection.address = move.contract
       and (collection.adopted = 0 or collection.block_number < move.block_number)
      left join wallet_history as sent on sent.wallet = move.from_address and sent.transfer_id = move.id
      left join wallets as sender on sender.address = sent.wallet
      left join wallet_history as got on got.wallet = move.to_address and got.transfer_id = move.id
      left join wallets as receiver on receiver.address = got.wallet
      left join requests as request on request.id = move.request_id
     order by move.block_number, move.log_index, move.sub_index`.execute(trx);
  return rows;
}

/** An event of an app, and whether only strangers had to do with the movement. */
export interface MadeEvent {
  event: EventToStore;
  block: number;
  byStrangers: boolean;
}

function eventsOf(move: Move, now: number): MadeEvent[] {
  const { contract, collection_app: owner, sender_app: sender, receiver_app: receiver } = move;
  const apps = new Set([owner, sender, receiver].filter((app) => app !== null));
  return [...apps].map((app) => {
    const type = tokenEventOf(
      { from: move.from_address, to: move.to_address },
      { sends: sender === app, receives: receiver === app },
    );
    return {
      event: {
        body: bodyOf(move, type, app, now),
        appId: app,
        requestId: null,
        type,
        subject: `${contract}/${move.token_id}`,
        collection: contract,
        blockNumber: move.block_number,
        corrects: null,
      },
      block: move.block_number,
      byStrangers: sender !== app && receiver !== app && move.request_app !== app,
    };
  });
}

function bodyOf(move: Move, type: TokenEvent, app: string, now: number): TokenEventBody {
  return {
    id: orderedUuid(),
    type,
    // Another app must not see that the request exists.
    request_id: move.request_app === app ? move.request_id : null,
    contract_address: move.contract,
    token_id: toWireInteger(move.token_id),
    quantity: toWireInteger(move.quantity),
    from_address: move.from_address,
    to_address: move.to_address,
    transaction_hash: move.transaction_hash,
    block_number: move.block_number,
    block_time: new Date(move.timestamp).toISOString(),
    log_index: move.log_index,
    batch_index: move.sub_index,
    created_at: new Date(now).toISOString(),
  };
}

/**
 * Corrects the events of movements in blocks above `fork`, which a reorg deeper than the confirmations has dropped. The newest event is
 * corrected first. New blocks make new events. The caller's transaction has locked the ledger.
 */
export async function correctTokenEvents(trx: Trx, fork: number, now: number): Promise<void> {
  const place = await readPlace(trx);
  if (place === null || (await isReadAgain(trx)) || place.block <= fork) return;
  const { rows } = await sql<{ app_id: string; type: TokenEvent; body: string }>`
    update events set block_number = null where block_number > ${fork}
    returning app_id, type, body`.execute(trx);
  const made = rows.map((row) => ({ ...row, body: JSON.parse(row.body) as TokenEventBody }));
  made.sort((a, b) => orderOf(b.body, a.body));
  const corrections = made.map(({ app_id: appId, type, body }): EventToStore => {
    const { id: corrects, contract_address: contract, token_id: tokenId } = body;
    return {
      body: correctionOf(body, now),
      appId,
      requestId: null,
      type,
      subject: `${contract}/${tokenId.toString()}`,
      collection: contract,
      blockNumber: null,
      corrects,
    };
  });
  await storeEvents(trx, corrections, now);
  await rewindStrangers(trx, fork);
  await writePlace(trx, { block: fork, log: END, sub: 0 });
}

function correctionOf({ id: corrects, ...event }: TokenEventBody, now: number): TokenCorrectionBody {
  const [id, at] = [orderedUuid(), new Date(now).toISOString()];
  return { ...event, id, type: "corrected", corrects, created_at: at };
}

function orderOf(one: TokenEventBody, other: TokenEventBody): number {
  return (
    one.block_number - other.block_number || one.log_index - other.log_index || one.batch_index - other.batch_index
  );
}
