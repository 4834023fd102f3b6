import type { Command } from "../../domain/command.ts";
import { parseExact } from "../../shared/exact-json.ts";
import type { ChainOutcome } from "../../domain/outcome.ts";
import { isFinal, type RequestStatus, statusesBefore } from "../../domain/request.ts";
import { addToCounter, counterKeys } from "../db/counters.ts";
import type { Trx } from "../db/engine.ts";
import { enqueueEvent } from "../outbox/events.ts";
import { refundGas } from "./gas-usage.ts";
import { releaseReservation } from "./reservations.ts";
import type { RequestRow } from "../db/schema.ts";

export function commandOf(row: Pick<RequestRow, "command">): Command {
  // Metadata in it may hold numbers that no JavaScript number keeps.
  return parseExact(row.command) as Command;
}

export function outcomeOf(row: Pick<RequestRow, "outcome">): ChainOutcome | null {
  return row.outcome === null ? null : (JSON.parse(row.outcome) as ChainOutcome);
}

/** Its transaction is signed and committed: `pending` becomes `processing`, with the event `sent`. */
export async function markProcessing(trx: Trx, row: RequestRow, transactionHash: string, now: number): Promise<void> {
  const sent: RequestRow = { ...row, transaction_hash: transactionHash };
  await trx
    .updateTable("requests")
    .set({ transaction_hash: transactionHash, updated_at: now })
    .where("id", "=", row.id)
    .execute();
  if (await moveTo(trx, row, "processing", now)) {
    await enqueueEvent(trx, { ...sent, command: commandOf(row) }, "sent", now);
  }
}

/**
 * Stores the final outcome: status, what it made or why it failed, and its one final event.
 * @returns false when the request was final already; nothing is changed then.
 */
export async function settle(trx: Trx, row: RequestRow, outcome: ChainOutcome, now: number): Promise<boolean> {
  const command = commandOf(row);
  if (!(await moveTo(trx, row, outcome.ok ? "completed" : "failed", now))) return false;
  const result = outcome.ok
    ? {
        nft_collection: outcome.collection ?? row.nft_collection,
        nft_token_id: outcome.tokenId ?? row.nft_token_id,
        error_code: null,
        errors: null,
      }
    : {
        nft_collection: row.nft_collection,
        nft_token_id: row.nft_token_id,
        error_code: outcome.errorCode,
        errors: outcome.errors === null ? null : JSON.stringify(outcome.errors),
      };
  await trx
    .updateTable("requests")
    .set({ ...result, outcome: null, ready_at: null, lane: null, updated_at: now })
    .where("id", "=", row.id)
    .execute();
  const subject = { ...row, ...result, command };
  if (outcome.ok) await enqueueEvent(trx, subject, "completed", now);
  else await enqueueEvent(trx, subject, "error", now, outcome.errorCode);
  return true;
}

/** Fails a request that was never signed: nothing can have happened, so what it had reserved goes back. */
export async function failBeforeSending(
  trx: Trx,
  row: RequestRow,
  failure: Extract<ChainOutcome, { ok: false }>,
  now: number,
): Promise<void> {
  if (!(await settle(trx, row, failure, now))) return;
  await releaseReservation(trx, commandOf(row), false);
  await refundGas(trx, row);
}

/** The only statement that changes a status: it checks the step, and moves the totals of the listings along. */
async function moveTo(trx: Trx, row: RequestRow, to: RequestStatus, now: number): Promise<boolean> {
  const updated = await trx
    .updateTable("requests")
    .set({ status: to, updated_at: now })
    .where("id", "=", row.id)
    .where("status", "=", row.status)
    .where("status", "in", statusesBefore(to))
    .executeTakeFirst();
  if (updated.numUpdatedRows !== 1n) return false;
  await addToCounter(trx, counterKeys.requests(row.app_id, row.status, row.type), -1);
  await addToCounter(trx, counterKeys.requests(row.app_id, to, row.type), 1);
  if (isFinal(to)) await addToCounter(trx, counterKeys.backlog(), -1);
  return true;
}
