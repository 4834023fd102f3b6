import { type RawBuilder, sql } from "kysely";

import { dayOf } from "../../domain/day.ts";
import { type ChainOutcome, isFinal, type RequestStatus, statusesBefore } from "../../domain/request.ts";
import { latencyRange, bucketOf } from "../../domain/series.ts";
import { splitFee } from "../../domain/wei.ts";
import { addToBacklog, CounterDeltas, counterKeys } from "../db/counters.ts";
import { unparkRows } from "../db/parked-rows.ts";
import { rowSet, type SetColumns, type SetValue, textSet, type Trx } from "../db/sql.ts";
import { enqueueEvents } from "../outbox/events.ts";
import { chargeAgain } from "./gas-usage.ts";
import { releaseReservations } from "./reservations.ts";
import { type DecidedRequest, madeBy, type StoredRequest } from "./requests.ts";

/**
 * Call this in the database transaction that stores the signed bytes: the requests then belong to the batch, and `pending` becomes
 * `processing`, with the event `sent`.
 * @returns the requests that no earlier batch carried.
 */
export async function markProcessing(
  trx: Trx,
  requests: readonly StoredRequest[],
  { batchId, transactionHash }: { batchId: number; transactionHash: string },
  now: number,
): Promise<StoredRequest[]> {
  // A request with an outcome names the transaction in which its number was used.
  const hash = sql`case when requests.outcome is null then ${transactionHash} else requests.transaction_hash end`;
  const set = sql`batch_id = ${batchId}, lane = null, transaction_hash = ${hash}`;
  const moved = await moveTo(
    trx,
    requests.map((request) => ({ request, to: "processing" as const })),
    now,
    { columns: {}, of: () => ({}), set },
  );
  // Those that an earlier batch carried are in the state `processing` already. That batch may have run them meanwhile.
  const firstTime = new Set(moved.map(({ request }) => request.id));
  const again = requests.filter(({ id }) => !firstTime.has(id));
  if (again.length > 0) {
    const ids = again.map(({ id }) => id);
    await sql`
      update requests set ${set}, updated_at = ${now}
       where id in ${textSet(trx, ids)} and status = 'processing' and outcome is null`.execute(trx);
    await unparkRows(trx, "request", again);
  }
  await enqueueEvents(
    trx,
    moved.map(({ request }) => ({ request: { ...request, transaction_hash: transactionHash }, type: "sent" as const })),
    now,
  );
  return moved.map(({ request }) => request);
}

/**
 * Stores final outcomes: status, what was made or why it failed, and the one final event of each request.
 * @param beforeEvents what else changes with the status. The events come last: they lock the sequences of their apps, and
 * everything else is locked before.
 * @returns the requests that this call made final. The others were final before and do not change.
 */
export async function settle<R extends StoredRequest>(
  trx: Trx,
  settled: readonly DecidedRequest<R>[],
  now: number,
  beforeEvents?: (moved: readonly R[]) => Promise<void>,
): Promise<DecidedRequest<R>[]> {
  const moved = await moveTo(
    trx,
    settled.map((one) => ({ ...one, to: one.outcome.ok ? ("completed" as const) : ("failed" as const) })),
    now,
    {
      columns: { nft_collection: "text", nft_token_id: "text", error_code: "text", errors: "text" },
      of: resultOf,
      set: sql`nft_collection = input.nft_collection, nft_token_id = input.nft_token_id, error_code = input.error_code,
               errors = input.errors, outcome = null, ready_at = null, lane = null`,
    },
  );
  if (moved.length === 0) return [];
  await beforeEvents?.(moved.map(({ request }) => request));
  await enqueueEvents(
    trx,
    moved.map(({ request, outcome }) => ({
      request: { ...request, ...madeBy({ request, outcome }) },
      type: outcome.ok ? ("completed" as const) : ("error" as const),
      errorCode: outcome.ok ? undefined : outcome.errorCode,
    })),
    now,
  );
  return moved;
}

function resultOf({ request, outcome }: DecidedRequest) {
  const made = madeBy({ request, outcome });
  if (outcome.ok) return { ...made, error_code: null, errors: null };
  return { ...made, error_code: outcome.errorCode, errors: outcome.errors && JSON.stringify(outcome.errors) };
}

/** A request that had no effect on chain and can have none, and why it fails. */
type EffectlessFailure = DecidedRequest & { outcome: Extract<ChainOutcome, { ok: false }> };

/**
 * Fails requests that were never signed, or whose transactions can no longer be mined. They had no effect on chain, so their
 * reservations are released.
 * @returns those that this call made final.
 */
export async function failWithoutEffect(
  trx: Trx,
  failures: readonly EffectlessFailure[],
  now: number,
): Promise<DecidedRequest[]> {
  return settle(trx, failures, now, async (failed) => {
    await releaseReservations(
      trx,
      failed.map(({ command }) => ({ command, happened: false })),
    );
    await chargeAgain(trx, failed);
  });
}

/** Notes which request sends a failed one again. @returns false when it cannot be sent again, or has been. */
export async function markRetried(trx: Trx, id: string, by: string): Promise<boolean> {
  const failed = trx.updateTable("requests").where("id", "=", id).where("status", "=", "failed");
  const marked = failed.set({ retried_by: by }).where("retried_by", "is", null).where("corrected", "=", 0);
  return (await marked.executeTakeFirst()).numUpdatedRows === 1n;
}

interface Step {
  request: StoredRequest;
  to: RequestStatus;
}

/**
 * What else changes with the status. In the same statement: PostgreSQL writes a whole new row, with all its index entries, for
 * each update.
 */
interface Change<S> {
  columns: SetColumns<string>;
  /** The values of `columns` for one step. */
  of: (step: S) => Record<string, SetValue>;
  /** Assignments. They may use the columns of `input`. */
  set: RawBuilder<unknown>;
}

/**
 * The only statement that changes a status. It checks that the step is legal, and updates the totals of the listings.
 * @returns the steps that were taken, in order.
 */
async function moveTo<S extends Step>(trx: Trx, steps: readonly S[], now: number, change: Change<S>): Promise<S[]> {
  const legal = steps.filter(({ request, to }) => statusesBefore(to).includes(request.status));
  if (legal.length === 0) return [];
  const columns: SetColumns<string> = { id: "text", before: "text", after: "text", ...change.columns };
  const rows = legal.map((step) => {
    const { request, to } = step;
    return { id: request.id, before: request.status, after: to, ...change.of(step) };
  });
  const { rows: updated } = await sql<{ id: string; stored_bytes: number }>`
    update requests set status = input.after, updated_at = ${now}, ${change.set}
      from ${rowSet(trx, columns, rows)} as input
     where requests.id = input.id and requests.status = input.before
    returning requests.id as id, requests.stored_bytes as stored_bytes`.execute(trx);
  const changed = new Map(updated.map(({ id, stored_bytes: bytes }) => [id, bytes]));
  const taken = legal.filter(({ request }) => changed.has(request.id));
  const counters = new CounterDeltas();
  for (const { request, to } of taken) {
    counters.add(counterKeys.requests(request.app_id, request.status, request.type), -1);
    counters.add(counterKeys.requests(request.app_id, to, request.type), 1);
    if (isFinal(to)) {
      addToBacklog(counters, request.app_id, -1);
      counters.add(counterKeys.usage(request.app_id, dayOf(now), to), 1);
      if (to === "completed" && request.type === "mint")
        counters.add(counterKeys.usage(request.app_id, dayOf(now), "minted"), 1);
      countFinal(counters, request, to, now);
    }
    if (to === "failed") counters.add(counterKeys.storedBytes(request.app_id), -(changed.get(request.id) ?? 0));
    if (to === "processing") counters.add(counterKeys.processing(), 1);
    else if (request.status === "processing") counters.add(counterKeys.processing(), -1);
  }
  await counters.flush(trx);
  await unparkRows(
    trx,
    "request",
    taken.map(({ request }) => request),
  );
  return taken;
}

interface FinalRequest {
  created_at: number;
  fee_wei: string | null;
}

/** Counts a request that became final, for the operator's charts. */
export function countFinal(
  counters: CounterDeltas,
  request: FinalRequest,
  to: "completed" | "failed",
  now: number,
): void {
  const add = (figure: string, delta: number) => {
    counters.add(counterKeys.series(bucketOf(now), figure), delta);
  };
  add(to, 1);
  add(`latency-${latencyRange(now - request.created_at).toString()}`, 1);
  if (request.fee_wei === null) return;
  const { gwei, rest } = splitFee(BigInt(request.fee_wei));
  add("fee_gwei", gwei);
  add("fee_rest", rest);
}
