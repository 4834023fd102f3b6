import { sql } from "kysely";

import type { Db } from "../db/sql.ts";

/** Batches that one statement reads. */
const PAGE = 500;

/**
 * What a lane's transactions since a time cost, in wei. One whose receipt the node has not shown yet counts with the most that
 * any of its attempts can have cost. Transactions that no block contains do not count.
 */
export async function spentSince(db: Db, lane: number, since: number): Promise<bigint> {
  let total = 0n;
  let below = Number.MAX_SAFE_INTEGER;
  for (;;) {
    // Newest first, by the index of nonces: later nonces are signed later.
    const { rows } = await sql<Attempt>`
      select batch.nonce as "nonce", batch.created_at as "signedAt", batch.status as "status", batch.fee_wei as "fee",
             attempt.gas_limit as "gasLimit", attempt.max_fee_per_gas as "gasPrice"
        from (select * from batches where lane = ${lane} and nonce < ${below} order by nonce desc limit ${PAGE}) as batch
        join attempts as attempt on attempt.batch_id = batch.id
       order by batch.nonce desc`.execute(db);
    const recent = [...Map.groupBy(rows, ({ nonce }) => nonce).values()].filter(
      ([one]) => (one?.signedAt ?? 0) >= since,
    );
    for (const attempts of recent) total += costOf(attempts);
    if (recent.length < PAGE) return total;
    below = rows.at(-1)?.nonce ?? 0;
  }
}

/** How many of the newest transactions show what one costs. */
const RECENT = 100;

/** The gas that the newest transactions of all lanes used on average; null: none of them is in a block. */
export async function recentBatchGas(db: Db): Promise<number | null> {
  const { rows } = await sql<{ gas: number | null }>`
    select cast(avg(gas_used) as real) as gas
      from (select gas_used from batches order by id desc limit ${RECENT}) as newest`.execute(db);
  return rows[0]?.gas ?? null;
}

/** An attempt of a transaction, with what is known of the transaction. */
interface Attempt {
  nonce: number;
  signedAt: number;
  status: "open" | "closed";
  fee: string | null;
  gasLimit: string;
  gasPrice: string;
}

/** @param attempts of one transaction. */
function costOf(attempts: readonly Attempt[]): bigint {
  // There is at least one: a batch is stored with its first attempt.
  const [{ status, fee } = { status: "open", fee: null }] = attempts;
  if (status === "open") return 0n;
  if (fee !== null) return BigInt(fee);
  const most = attempts.map(({ gasLimit, gasPrice }) => BigInt(gasLimit) * BigInt(gasPrice));
  return most.reduce((a, b) => (a > b ? a : b));
}
