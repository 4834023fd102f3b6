import type { ChainOutcome } from "../../domain/outcome.ts";
import { isFinal, type RequestStatus, statusesBefore } from "../../domain/request.ts";
import { addToCounter, counterKeys } from "../db/counters.ts";
import type { Trx } from "../db/engine.ts";
import { enqueueEvent } from "../outbox/events.ts";
import { refundGas } from "./gas-usage.ts";
import { releaseReservation } from "./release-reservation.ts";
import type { SettledRequest, StoredRequest } from "./stored-request.ts";

/** Its transaction is signed and committed: `pending` becomes `processing`, with the event `sent`. */
export async function markProcessing(
  trx: Trx,
  request: StoredRequest,
  transactionHash: string,
  now: number,
): Promise<void> {
  await trx
    .updateTable("requests")
    .set({ transaction_hash: transactionHash, updated_at: now })
    .where("id", "=", request.id)
    .execute();
  if (await moveTo(trx, request, "processing", now)) {
    await enqueueEvent(trx, { ...request, transaction_hash: transactionHash }, "sent", now);
  }
}

/**
 * Stores the final outcome: status, what it made or why it failed, and its one final event.
 * @returns false when the request was final already; nothing is changed then.
 */
export async function settle(trx: Trx, { request, outcome }: SettledRequest, now: number): Promise<boolean> {
  if (!(await moveTo(trx, request, outcome.ok ? "completed" : "failed", now))) return false;
  const made = {
    nft_collection: (outcome.ok ? outcome.collection : null) ?? request.nft_collection,
    nft_token_id: (outcome.ok ? outcome.tokenId : null) ?? request.nft_token_id,
  };
  const result = outcome.ok
    ? { error_code: null, errors: null }
    : {
        error_code: outcome.errorCode,
        errors: outcome.errors === null ? null : JSON.stringify(outcome.errors),
      };
  await trx
    .updateTable("requests")
    .set({ ...made, ...result, outcome: null, ready_at: null, lane: null, updated_at: now })
    .where("id", "=", request.id)
    .execute();
  const subject = { ...request, ...made };
  if (outcome.ok) await enqueueEvent(trx, subject, "completed", now);
  else await enqueueEvent(trx, subject, "error", now, outcome.errorCode);
  return true;
}

/** Fails a request that was never signed: nothing can have happened, so what it had reserved goes back. */
export async function failBeforeSending(
  trx: Trx,
  request: StoredRequest,
  failure: Extract<ChainOutcome, { ok: false }>,
  now: number,
): Promise<void> {
  if (!(await settle(trx, { request, outcome: failure }, now))) return;
  await releaseReservation(trx, request.command, false);
  await refundGas(trx, request);
}

/** The only statement that changes a status: it checks the step, and moves the totals of the listings along. */
async function moveTo(trx: Trx, request: StoredRequest, to: RequestStatus, now: number): Promise<boolean> {
  const updated = await trx
    .updateTable("requests")
    .set({ status: to, updated_at: now })
    .where("id", "=", request.id)
    .where("status", "=", request.status)
    .where("status", "in", statusesBefore(to))
    .executeTakeFirst();
  if (updated.numUpdatedRows !== 1n) return false;
  await addToCounter(trx, counterKeys.requests(request.app_id, request.status, request.type), -1);
  await addToCounter(trx, counterKeys.requests(request.app_id, to, request.type), 1);
  if (isFinal(to)) await addToCounter(trx, counterKeys.backlog(), -1);
  return true;
}
