import type { ChainOutcome } from "../../../api/domain/request.ts";
import type { Database } from "../../../api/store/db/database.ts";
import type { Trx } from "../../../api/store/db/sql.ts";
import { writeMeta } from "../../../api/store/db/meta.ts";
import { applyRange, type SliceToStore } from "../../../api/store/ledger/apply-range.ts";
import { settleFinal } from "../../../api/store/requests/settle-final.ts";
import { recordBatch } from "../../../api/store/sending/batches.ts";
import { claimRequests } from "../../../api/store/sending/claims.ts";
import { ensureLane, type Lease, takeLease } from "../../../api/store/sending/lanes.ts";
import { type RangeFields, rangeOf } from "./ranges.ts";
import { hashOf, requestRow } from "./rows.ts";
import type { NumberedRequest } from "../../../api/store/requests/requests.ts";

/** Stores one block, and settles what is final with it. @returns whether it was taken. */
export async function apply(database: Database, fields: RangeFields): Promise<boolean> {
  return database.write((trx) => applyAndSettle(trx, fields, fields.block * 1000));
}

/** The same in the caller's transaction. */
export async function applyAndSettle(trx: Trx, fields: RangeFields, now: number): Promise<boolean> {
  const { confirmed = 0, failuresUpTo = Infinity, ...range } = fields;
  if (!(await applyRange(trx, rangeOf(range), now))) return false;
  await settleFinal(trx, { confirmed, failuresUpTo }, now);
  return true;
}

export async function startAtBlock(database: Database, block: number): Promise<void> {
  await database.write((trx) => writeMeta(trx, "checkpoint", block.toString()));
  await database.write((trx) => writeMeta(trx, "confirmed_block", "0"));
}

/** The lease of a lane that nobody holds any more. */
export async function leaseOf(database: Database, holder = "test", now = 1): Promise<Lease> {
  const lease = await database.write((trx) => takeLease(trx, 0, holder, { now, lasts: 1 }, () => true));
  if (lease === null) throw new Error("the lane is free");
  return lease;
}

let numbers = 0n;

interface SignedBatch {
  batchId: number;
  requests: NumberedRequest[];
}

/** Claims what is ready, and puts the named requests into a batch, as lane 0 would. */
export async function batchOf(
  database: Database,
  ids: string[],
  weights: readonly number[] = ids.map(() => 1),
): Promise<SignedBatch> {
  const address = hashOf("lane").slice(0, 42);
  await database.write((trx) => ensureLane(trx, 0, address, 0));
  const lease = await leaseOf(database);
  const batchId = await database.write(async (trx) => {
    const { claimed } = await claimRequests(trx, lease, {
      limit: 500,
      now: Number.MAX_SAFE_INTEGER,
      nextNumber: () => numbers++,
    });
    const requests = ids.map((id) => {
      const found = claimed.find((request) => request.id === id);
      if (found === undefined) throw new Error(`${id} was not ready`);
      return found;
    });
    const row = await trx.selectFrom("lanes").selectAll().where("lane", "=", 0).executeTakeFirstOrThrow();
    const hash = hashOf(`batch ${row.next_nonce.toString()}`);
    const attempt = { hash, raw: "0x", maxFeePerGas: 1n, maxPriorityFeePerGas: 1n, gasLimit: 1n };
    return (await recordBatch(trx, lease, { nonce: row.next_nonce, requests, weights, attempt }, 1)).batchId;
  });
  const requests = await Promise.all(
    ids.map(async (id) => {
      const row = await requestRow(database, id);
      if (row.number === null) throw new Error("a claimed request has a number");
      return { ...row, number: row.number };
    }),
  );
  return { batchId, requests };
}

/** A batch as a block contains it. @param outcomeOf of each call; null: the gas was used up before it. */
export function minedBatch(
  { batchId, requests }: SignedBatch,
  blockNumber: number,
  outcomeOf: (request: NumberedRequest) => ChainOutcome | null,
  transactionHash = `0x0${blockNumber.toString()}`,
): SliceToStore["batches"][number] {
  const results = requests.map((request) => ({ request, outcome: outcomeOf(request) }));
  return {
    batchId,
    transactionHash,
    blockNumber,
    timestamp: blockNumber * 1_000,
    outcomes: results.flatMap(({ request, outcome }) => (outcome === null ? [] : [{ request, outcome }])),
    untouched: results.flatMap(({ request, outcome }) => (outcome === null ? [request] : [])),
  };
}
