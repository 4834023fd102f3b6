import { sql } from "kysely";

import type { Db } from "../db/sql.ts";

/** Batches that one statement reads. */
const PAGE = 500;

/**
 * What a lane's transactions since a time cost, in wei. One whose receipt the node has not shown yet counts with the most that
 * its newest attempt can have cost. Transactions that no block contains do not count.
 */
export async function spentSince(db: Db, lane: number, since: number): Promise<bigint> {
  let total = 0n;
  let below = Number.MAX_SAFE_INTEGER;
  for (;;) {
    // Newest first, by the index of nonces: later nonces are signed later.
    const { rows } = await sql<SentBatch>`
      select batch.nonce as "nonce", batch.created_at as "signedAt", batch.status as "status", batch.fee_wei as "fee",
             attempt.gas_limit as "gasLimit", attempt.max_fee_per_gas as "gasPrice"
        from batches as batch
        join attempts as attempt on attempt.id = (select max(newest.id) from attempts as newest where newest.batch_id = batch.id)
       where batch.lane = ${lane} and batch.nonce < ${below}
       order by batch.nonce desc limit ${PAGE}`.execute(db);
    const recent = rows.filter(({ signedAt }) => signedAt >= since);
    for (const batch of recent) total += costOf(batch);
    if (recent.length < PAGE) return total;
    below = rows.at(-1)?.nonce ?? 0;
  }
}

interface SentBatch {
  nonce: number;
  signedAt: number;
  status: "open" | "closed";
  fee: string | null;
  gasLimit: string;
  gasPrice: string;
}

function costOf({ status, fee, gasLimit, gasPrice }: SentBatch): bigint {
  if (status === "open") return 0n;
  return fee === null ? BigInt(gasLimit) * BigInt(gasPrice) : BigInt(fee);
}
