import { sql } from "kysely";

import { type Cost, shareCost } from "../../domain/cost-shares.ts";
import { dayOf } from "../../domain/day.ts";
import { splitFee } from "../../domain/wei.ts";
import { type CounterDeltas, counterKeys } from "../db/counters.ts";
import { type Db, forUpdate, integerSet, rowSet, type Trx } from "../db/sql.ts";
import { chargeAgain } from "./gas-usage.ts";

/*
 * What transactions cost, and which request pays which part. All requests that a transaction carried share its whole cost, in
 * proportion to the gas that their calls were expected to use when it was signed (`batch_items.weight`): also a request that
 * failed, and every request of a transaction that reverted as a whole or was replaced by an empty one. So the shares can be
 * computed again at any time, and a reorg takes back exactly what was counted. Whoever calls these functions holds the ledger's
 * lock.
 */

/** What the mined transaction of a batch cost. */
export interface BatchCost extends Cost {
  batchId: number;
  blockNumber: number;
  /** The day that it is counted on (days since 1970, UTC). */
  day: number;
}

/** The cost of a batch as a block shows it. No cost: the node did not show the receipt. */
export function costOfBatch(
  batch: Pick<BatchCost, "batchId" | "blockNumber"> & { timestamp: number; cost?: Cost },
): BatchCost[] {
  const { batchId, blockNumber, timestamp, cost } = batch;
  return cost === undefined ? [] : [{ ...cost, batchId, blockNumber, day: dayOf(timestamp) }];
}

/** Stores the costs of closed batches, once each. A batch that a reorg has opened or moved meanwhile is left out. */
export async function recordCosts(trx: Trx, costs: readonly BatchCost[], counters: CounterDeltas): Promise<void> {
  if (costs.length === 0) return;
  const rows = costs.map(({ batchId, blockNumber, gas, feeWei, day }) => ({
    id: batchId,
    block_number: blockNumber,
    gas_used: gas,
    fee_wei: feeWei.toString(),
    cost_day: day,
  }));
  const columns = {
    id: "integer",
    block_number: "integer",
    gas_used: "integer",
    fee_wei: "text",
    cost_day: "integer",
  } as const;
  const { rows: stored } = await sql<CostRow>`
    update batches set gas_used = input.gas_used, fee_wei = input.fee_wei, cost_day = input.cost_day
      from ${rowSet(trx, columns, rows)} as input
     where batches.id = input.id and batches.block_number = input.block_number and batches.status = 'closed'
       and batches.fee_wei is null
    returning batches.id as id, batches.gas_used as gas_used, batches.fee_wei as fee_wei, batches.cost_day as cost_day
  `.execute(trx);
  await chargeAgain(trx, await addShares(trx, stored, counters, 1));
}

/**
 * Takes back the costs of transactions in dropped blocks. Call it before the batches of these blocks are opened again.
 * @returns the requests that paid, to be charged again when the rollback is complete.
 */
export async function undoCosts(trx: Trx, fork: number, counters: CounterDeltas): Promise<PayingRequest[]> {
  const { rows: dropped } = await sql<CostRow>`
    select id, gas_used, fee_wei, cost_day from batches where block_number > ${fork} and fee_wei is not null`.execute(
    trx,
  );
  return addShares(trx, dropped, counters, -1);
}

interface CostRow {
  id: number;
  gas_used: number;
  fee_wei: string;
  cost_day: number;
}

interface PayingRequest {
  id: string;
  gas_day: number | null;
}

interface SharingRequest extends PayingRequest {
  batch_id: number;
  weight: number;
  app_id: string;
  gas_used: number | null;
  fee_wei: string | null;
}

/** What changes for one request. */
interface Change extends Cost {
  request: SharingRequest;
}

/** @param sign -1 takes shares back. @returns the requests that share the costs. */
async function addShares(
  trx: Trx,
  batches: readonly CostRow[],
  counters: CounterDeltas,
  sign: 1 | -1,
): Promise<PayingRequest[]> {
  if (batches.length === 0) return [];
  const byBatch = Map.groupBy(await sharingRequests(trx, batches), ({ batch_id }) => batch_id);
  const changes = new Map<string, Change>();
  for (const batch of batches) {
    const carried = byBatch.get(batch.id) ?? [];
    const cost = { gas: batch.gas_used, feeWei: BigInt(batch.fee_wei) };
    const weights = carried.map(({ weight }) => weight);
    const fees = new Map<string, bigint>();
    for (const [index, part] of shareCost(cost, weights).entries()) {
      const request = carried[index];
      if (request === undefined) throw new Error(`batch ${batch.id.toString()} has more shares than requests`);
      const [gas, feeWei] = [part.gas * sign, part.feeWei * BigInt(sign)];
      const { gas: before, feeWei: feeBefore } = changes.get(request.id) ?? { gas: 0, feeWei: 0n };
      changes.set(request.id, { request, gas: before + gas, feeWei: feeBefore + feeWei });
      counters.add(counterKeys.usage(request.app_id, batch.cost_day, "gas"), gas);
      fees.set(request.app_id, (fees.get(request.app_id) ?? 0n) + feeWei);
    }
    for (const [app, feeWei] of fees) addFee(counters, app, batch.cost_day, feeWei);
  }
  await storeShares(trx, [...changes.values()]);
  return [...changes.values()].map(({ request }) => request);
}

function addFee(counters: CounterDeltas, app: string, day: number, feeWei: bigint): void {
  const { gwei, rest } = splitFee(feeWei);
  counters.add(counterKeys.usage(app, day, "fee_gwei"), gwei);
  counters.add(counterKeys.usage(app, day, "fee_rest"), rest);
}

async function sharingRequests(trx: Trx, batches: readonly CostRow[]): Promise<SharingRequest[]> {
  const ids = batches.map(({ id }) => id);
  const { rows } = await sql<SharingRequest>`
    select batch_items.batch_id, batch_items.weight, requests.id, requests.app_id, requests.gas_day, requests.gas_used,
           requests.fee_wei
      from batch_items join requests on requests.id = batch_items.request_id
     where batch_items.batch_id in ${integerSet(trx, ids)}
     order by batch_items.batch_id, batch_items.position ${forUpdate(trx, "requests")}`.execute(trx);
  return rows;
}

async function storeShares(trx: Trx, changes: readonly Change[]): Promise<void> {
  const rows = changes.map(({ request, gas, feeWei }) => {
    const used = (request.gas_used ?? 0) + gas;
    const fee = BigInt(request.fee_wei ?? "0") + feeWei;
    const none = used === 0 && fee === 0n;
    return { id: request.id, gas_used: none ? null : used, fee_wei: none ? null : fee.toString() };
  });
  await sql`
    update requests set gas_used = input.gas_used, fee_wei = input.fee_wei
      from ${rowSet(trx, { id: "text", gas_used: "integer", fee_wei: "text" }, rows)} as input
     where requests.id = input.id`.execute(trx);
}

/** Closed batches whose cost is not known yet, newest first, with the hashes of all their attempts. */
export async function batchesWithoutCost(
  db: Db,
  limit: number,
): Promise<{ batchId: number; blockNumber: number; hashes: string[] }[]> {
  const { rows } = await sql<{ id: number; block_number: number; hash: string }>`
    select batches.id as id, batches.block_number as block_number, attempts.hash as hash
      from (select id, block_number from batches where status = 'closed' and fee_wei is null order by id desc limit ${limit})
           as batches
      join attempts on attempts.batch_id = batches.id
     order by batches.id desc, attempts.id`.execute(db);
  return [...Map.groupBy(rows, ({ id }) => id)].map(([batchId, attempts]) => ({
    batchId,
    blockNumber: attempts[0]?.block_number ?? 0,
    hashes: attempts.map(({ hash }) => hash),
  }));
}
