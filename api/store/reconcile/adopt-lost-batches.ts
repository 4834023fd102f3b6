import { randomBytes } from "node:crypto";

import type { Command } from "../../domain/command.ts";
import type { RequestType } from "../../domain/request.ts";
import {
  batchRequests,
  closeBatch,
  insertAttempt,
  openBatches,
  type OpenBatch,
  type SignedAttempt,
} from "../sending/batches.ts";
import type { Db, Trx } from "../db/engine.ts";
import { failBeforeSending, markProcessing } from "../requests/request-state.ts";
import { insertRequest } from "../requests/requests.ts";
import { reserveAgain } from "../requests/reservations.ts";
import { type StoredRequest, toRequest } from "../requests/stored-request.ts";
import type { LaneRow } from "../db/schema.ts";
import { RECOVERED_APP } from "./recovered-app.ts";

/*
 * A database that is older than the chain: an earlier life of the service did things that this one does not know. What
 * the chain shows of them becomes rows like any other, so that the indexer can read their blocks as it reads all blocks.
 */

export interface LostCall {
  number: bigint;
  command: Command;
  /** Whether it was dealt with, and did not fail: then its effect is on chain. */
  happened: boolean;
}

/** A transaction of one of our lanes that the database does not know. */
export interface LostBatch {
  lane: number;
  address: string;
  nonce: number;
  attempt: SignedAttempt;
  calls: LostCall[];
}

export interface Adopted {
  /** Requests of the backup that these transactions carried. */
  recognised: string[];
  /** Calls whose requests the backup does not have. */
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

/** Every process that still holds a lane loses it, whatever it was about to write. Adds lanes that are not there yet. */
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

/** Stores a lost transaction as a batch, open until the indexer reads its block. */
export async function adoptBatch(trx: Trx, batch: LostBatch, now: number): Promise<Adopted> {
  const existing = await batchAt(trx, batch.lane, batch.nonce);
  if (existing !== undefined) {
    await requireSame(trx, existing, batch);
    await insertAttempt(trx, existing, batch.attempt, now, now);
    return { recognised: [], added: 0 };
  }
  const adopted: Adopted = { recognised: [], added: 0 };
  const { id: batchId } = await trx
    .insertInto("batches")
    .values({
      lane: batch.lane,
      nonce: batch.nonce,
      status: "open",
      size: batch.calls.length,
      block_number: null,
      created_at: now,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  await insertAttempt(trx, batchId, batch.attempt, now, now);
  for (const [position, call] of batch.calls.entries()) {
    const known = await requestOf(trx, call);
    if (known !== undefined) adopted.recognised.push(known.id);
    else adopted.added += 1;
    const request = known ?? (await addRequest(trx, call, now));
    await trx.insertInto("batch_items").values({ batch_id: batchId, position, request_id: request.id }).execute();
    if (request.status === "completed" || request.status === "failed") continue;
    await trx
      .updateTable("requests")
      .set({ number: call.number.toString(), batch_id: batchId, lane: null, ready_at: null })
      .where("id", "=", request.id)
      .execute();
    await markProcessing(trx, [request], batch.attempt.hash, now);
  }
  return adopted;
}

/** A nonce that was used before stands for the same requests: only the fees of its transaction may be others. */
async function requireSame(trx: Trx, batchId: number, batch: LostBatch): Promise<void> {
  const known = (await batchRequests(trx, batchId)).map((request) => request.number);
  if (known.join() === batch.calls.map((call) => call.number).join()) return;
  throw new Error(
    `nonce ${batch.nonce.toString()} of lane ${batch.lane.toString()} carried other requests than the database says: ` +
      "two services have used one seed. Restore a newer backup.",
  );
}

/** By its number; or, because an ERC1155 id is created once only, by the id that it creates. */
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
  // Its id may have been taken for a stranger's: what the request brought along hangs on it again.
  const metadata = asked.metadata === null ? null : JSON.stringify(asked.metadata);
  await trx
    .updateTable("nfts")
    .set({ request_id: found.id, token_uri: asked.uri, metadata })
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
  const id = randomBytes(32).toString("hex");
  const collection = "collection" in command ? command.collection : null;
  const tokenId = "tokenId" in command ? command.tokenId : null;
  const request = { id, appId: RECOVERED_APP, type: typeOf(command), command };
  await insertRequest(trx, { ...request, unlockable: null, collection, tokenId, now });
  // Taken back when its block is read, as that of any request.
  await reserveAgain(trx, [{ id, command }]);
  return toRequest(await trx.selectFrom("requests").selectAll().where("id", "=", id).executeTakeFirstOrThrow());
}

function typeOf({ kind }: Command): RequestType {
  if (kind === "create-collection") return "collection";
  if (kind === "transfer") return "transfer";
  if (kind === "announce-metadata") return "metadata";
  return kind === "freeze-metadata" ? "freeze" : "mint";
}

/** Of these numbers, the ones that requests of the database have. */
export async function numbersAmong(db: Db, numbers: bigint[]): Promise<Set<bigint>> {
  const known = new Set<bigint>();
  const texts = numbers.map(String);
  for (let start = 0; start < texts.length; start += 500) {
    const rows = await db
      .selectFrom("requests")
      .select("number")
      .where("number", "in", texts.slice(start, start + 500))
      .execute();
    for (const row of rows) if (row.number !== null) known.add(BigInt(row.number));
  }
  return known;
}

/** Accepted, and never given a number: in the lost time they may have got one. Oldest first. */
export async function withoutNumber(db: Db): Promise<StoredRequest[]> {
  const rows = await db
    .selectFrom("requests")
    .selectAll()
    .where("number", "is", null)
    .where("status", "=", "pending")
    .orderBy("seq")
    .execute();
  return rows.map(toRequest);
}

/** Ends requests that may have been carried out under a number that was lost with the time. */
export async function failUncertain(trx: Trx, requests: StoredRequest[], now: number): Promise<void> {
  const message =
    "The service was restored from a backup, and a request like this one was carried out before. Look at what is there, and ask again if it is not enough.";
  const failure = {
    ok: false,
    errorCode: "number_taken",
    errors: [{ field: "request", code: "number_taken", message }],
  } as const;
  const outcome = { ...failure, errors: [...failure.errors] };
  await failBeforeSending(
    trx,
    requests.map((request) => ({ request, outcome })),
    now,
  );
}

/** Batches of the lane whose nonces are used, and whose transactions the chain does not have. */
export async function vanishedBatches(db: Db, lane: number, mined: number): Promise<OpenBatch[]> {
  return (await openBatches(db, lane)).filter((batch) => batch.nonce < mined);
}

/** Its nonce was used by a transaction that ran none of its requests: they go into another one. */
export async function closeVanished(trx: Trx, batchId: number, block: number, now: number): Promise<void> {
  await closeBatch(trx, batchId, { blockNumber: block, gasUsed: 0n }, now);
}
