import { sql } from "kysely";

import type { Command } from "../../domain/command.ts";
import { NO_COST } from "../../domain/cost-shares.ts";
import { dayOf } from "../../domain/day.ts";
import type { FieldError } from "../../domain/error-codes.ts";
import { estimateGas } from "../../domain/gas-estimate.ts";
import { isFinal, type RequestType } from "../../domain/request.ts";
import { orderedId } from "../../shared/ids.ts";
import type { LaneRow } from "../db/schema.ts";
import { type Db, textSet, type Trx } from "../db/sql.ts";
import { endMediaJobsOf } from "../media/media-jobs.ts";
import { searchName } from "../listings/search.ts";
import { failWithoutEffect, markProcessing } from "../requests/request-state.ts";
import { insertRequest, type StoredRequest, toRequest } from "../requests/requests.ts";
import { reserveAgain } from "../requests/reservations.ts";
import { batchRequests, insertAttempt, type OpenBatch, openBatches, type SignedAttempt } from "../sending/batches.ts";
import { closeBatch } from "../sending/close-batch.ts";
import { RECOVERED_APP } from "./recovered-app.ts";

/*
 * For a database that is older than the chain, such as a restored backup: the service sent transactions that the database
 * does not know. They are stored as ordinary rows, so that the indexer reads their blocks like any others.
 */

/** A batch of this database whose nonce an unknown batch with other requests has used. */
export async function replacedBatch(db: Db, batch: LostBatch): Promise<number | null> {
  const id = await batchAt(db, batch.lane, batch.nonce);
  if (id === undefined) return null;
  const known = (await batchRequests(db, id)).map((request) => request.number);
  return known.join() === batch.calls.map((call) => call.number).join() ? null : id;
}

/** Empties a batch that no block can contain any more. Its requests wait for another one. */
export async function emptyReplaced(trx: Trx, id: number, block: number, now: number): Promise<void> {
  await closeVanished(trx, id, block, now);
  await trx.deleteFrom("batch_items").where("batch_id", "=", id).execute();
  await trx.deleteFrom("attempts").where("batch_id", "=", id).execute();
}

/**
 * Requests that may have been sent under a number that the database does not know, oldest first: pending ones without a
 * number, and those of batches that were replaced by unknown ones.
 */
export async function perhapsSent(db: Db, replaced: readonly number[]): Promise<StoredRequest[]> {
  const rows = await db
    .selectFrom("requests")
    .selectAll()
    .where("number", "is", null)
    .where("status", "=", "pending")
    .orderBy("seq")
    .execute();
  const waiting = rows.map(toRequest);
  for (const id of replaced) {
    const requests = await batchRequests(db, id);
    waiting.push(...requests.filter(({ status, outcome }) => !isFinal(status) && outcome === null));
  }
  return waiting.sort((one, other) => one.seq - other.seq);
}

export interface LostCall {
  number: bigint;
  command: Command;
  /** Whether the call ran and succeeded: then its effect is on chain. */
  happened: boolean;
}

/** A transaction of the service's lanes that the database does not know. */
export interface LostBatch {
  lane: number;
  address: string;
  nonce: number;
  attempt: SignedAttempt;
  calls: LostCall[];
}

interface Adopted {
  /** Requests of the database that were in these transactions. */
  recognised: string[];
  /** Calls whose requests are not in the database. */
  added: number;
}

export async function batchAt(db: Db, lane: number, nonce: number): Promise<number | undefined> {
  const row = await db
    .selectFrom("batches")
    .select("id")
    .where("lane", "=", lane)
    .where("nonce", "=", nonce)
    .executeTakeFirst();
  return row?.id;
}

/** Moves a lane to a nonce, adding its row if needed. A process that holds the lane loses it. */
export async function moveLane(trx: Trx, lane: Pick<LaneRow, "lane" | "address">, nonce: number): Promise<void> {
  await trx
    .insertInto("lanes")
    .values({ ...lane, next_nonce: nonce, lease_holder: null, lease_fence: 1, lease_until: 0 })
    .onConflict((conflict) =>
      conflict.column("lane").doUpdateSet((eb) => ({
        next_nonce: nonce,
        lease_holder: null,
        lease_fence: eb("lanes.lease_fence", "+", 1),
        lease_until: 0,
      })),
    )
    .execute();
}

/**
 * Stores a lost transaction as a batch. It is open until the indexer reads its block. A batch with the same nonce carries the
 * same requests: the transactions differ only in their fees.
 */
export async function adoptBatch(trx: Trx, batch: LostBatch, now: number): Promise<Adopted> {
  const existing = await batchAt(trx, batch.lane, batch.nonce);
  if (existing !== undefined && (await batchRequests(trx, existing)).length > 0) {
    await insertAttempt(trx, existing, batch.attempt, now, now);
    return { recognised: [], added: 0 };
  }
  const adopted: Adopted = { recognised: [], added: 0 };
  const batchId = await openLost(trx, batch, existing, now);
  await insertAttempt(trx, batchId, batch.attempt, now, now);
  for (const [position, call] of batch.calls.entries()) {
    const known = await requestOf(trx, call);
    if (known !== undefined) adopted.recognised.push(known.id);
    else adopted.added += 1;
    const request = known ?? (await addRequest(trx, call, now));
    const weight = estimateGas(call.command);
    await trx
      .insertInto("batch_items")
      .values({ batch_id: batchId, position, request_id: request.id, weight })
      .execute();
    if (request.status === "completed" || request.status === "failed") continue;
    await trx
      .updateTable("requests")
      .set({ number: call.number.toString(), ready_at: null })
      .where("id", "=", request.id)
      .execute();
    await markProcessing(trx, [request], { batchId, transactionHash: batch.attempt.hash }, now);
  }
  return adopted;
}

/** @param emptied the batch with this nonce, which was emptied; its row is used again. */
async function openLost(trx: Trx, batch: LostBatch, emptied: number | undefined, now: number): Promise<number> {
  const opened = { status: "open", size: batch.calls.length, created_at: now } as const;
  const nothing = { block_number: null, gas_used: null, fee_wei: null, cost_day: null };
  const fields = { ...opened, ...nothing, ran: 0, keeps_raw: 1, keeps_items: 1 };
  if (emptied !== undefined) {
    await trx.updateTable("batches").set(fields).where("id", "=", emptied).execute();
    return emptied;
  }
  const { id } = await trx
    .insertInto("batches")
    .values({ lane: batch.lane, nonce: batch.nonce, ...fields })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

/** Finds the request of a call by its number. The creation of an ERC1155 id is also found by the id, which is created only once. */
async function requestOf(trx: Trx, { number, command, happened }: LostCall): Promise<StoredRequest | undefined> {
  const byNumber = await trx
    .selectFrom("requests")
    .selectAll()
    .where("number", "=", number.toString())
    .executeTakeFirst();
  if (byNumber !== undefined) return toRequest(byNumber);
  if (command.kind !== "create-erc1155" || !happened) return undefined;
  const row = await trx
    .selectFrom("requests")
    .selectAll()
    .where("nft_collection", "=", command.collection)
    .where("nft_token_id", "=", command.tokenId)
    .where("type", "=", "mint")
    .where("status", "=", "pending")
    .where("number", "is", null)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const found = toRequest(row);
  const asked = found.command;
  if (asked.kind !== command.kind || asked.to !== command.to || asked.quantity !== command.quantity) return undefined;
  // The token may have been stored as created by somebody else. Give it the content of its request again.
  const metadata = asked.metadata === null ? null : JSON.stringify(asked.metadata);
  await trx
    .updateTable("nfts")
    .set({
      request_id: found.id,
      token_uri: asked.uri,
      metadata,
      search_name: searchName(asked.metadata, command.tokenId),
    })
    .where("contract", "=", command.collection)
    .where("token_id", "=", command.tokenId)
    .where("minted_block", "is", null)
    .execute();
  return found;
}

async function addRequest(trx: Trx, { command }: LostCall, now: number): Promise<StoredRequest> {
  await trx
    .insertInto("apps")
    .values({ id: RECOVERED_APP, name: "Recovered from the chain", created_at: now })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
  const id = orderedId();
  const collection = "collection" in command ? command.collection : null;
  const tokenId = "tokenId" in command ? command.tokenId : null;
  const request = { id, appId: RECOVERED_APP, type: typeOf(command), command };
  await insertRequest(trx, { ...request, unlockable: null, collection, tokenId, now });
  // Released when its block is read, like that of any request.
  await reserveAgain(trx, [{ id, command }]);
  return toRequest(await trx.selectFrom("requests").selectAll().where("id", "=", id).executeTakeFirstOrThrow());
}

function typeOf({ kind }: Command): RequestType {
  if (kind === "create-collection") return "collection";
  if (kind === "transfer" || kind === "burn") return kind;
  if (kind === "announce-metadata") return "metadata";
  return kind === "freeze-metadata" ? "freeze" : "mint";
}

/** Those of the numbers that belong to stored requests. */
export async function numbersAmong(db: Db, numbers: bigint[]): Promise<Set<bigint>> {
  const { rows } = await sql<{ number: string }>`
    select number from requests where number in ${textSet(db, numbers.map(String))}`.execute(db);
  return new Set(rows.map(({ number }) => BigInt(number)));
}

/** Fails requests that may have been carried out after the backup, under a number that the database does not know. */
export async function failUncertain(trx: Trx, requests: StoredRequest[], now: number): Promise<void> {
  const message =
    "The service was restored from a backup, and a request like this one had already been carried out. Check the tokens, and send the request again if it is still needed.";
  const errors: FieldError[] = [{ field: "request", code: "number_taken", message }];
  // Otherwise the totals would count them among those that wait for content, and content would be fetched for them.
  await endMediaJobsOf(trx, requests);
  await failWithoutEffect(
    trx,
    requests.map((request) => ({ request, outcome: { ok: false, errorCode: "number_taken", errors } })),
    now,
  );
}

/** Open batches of the lane whose nonces the chain has used. */
export async function vanishedBatches(db: Db, lane: number, mined: number): Promise<OpenBatch[]> {
  return (await openBatches(db, lane)).filter((batch) => batch.nonce < mined);
}

/** Closes a batch whose nonce was used by a transaction without its requests. The requests go into another batch. */
export async function closeVanished(trx: Trx, batchId: number, block: number, now: number): Promise<void> {
  await closeBatch(trx, batchId, { blockNumber: block, cost: { ...NO_COST, day: dayOf(now) } }, now);
}
