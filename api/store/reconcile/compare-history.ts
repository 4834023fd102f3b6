import { sql } from "kysely";

import { CounterDeltas } from "../db/counters.ts";
import type { Db, Trx } from "../db/sql.ts";
import { addToHistory, type StoredMove } from "../ledger/history.ts";
import type { TransferRow } from "../db/schema.ts";
import { type Difference, pairs, type Pages } from "./difference.ts";

const PAGE = 500;

/** A movement, with the wallets whose history contains it. */
type Entry = TransferRow & { wallets: string[] };

/**
 * Compares all histories. Listings follow the order of the rows, so a repair rewrites all rows from the first difference on,
 * in the order of the chain.
 */
export async function compareHistory(trx: Trx, chain: Db, repair: boolean): Promise<Difference[]> {
  const differences: Difference[] = [];
  let first: Entry | null = null;
  for await (const [stored, real] of pairs(history(trx), history(chain), placeOf)) {
    if (stored !== undefined && real !== undefined && words(stored) === words(real)) continue;
    const entry = real ?? stored;
    if (entry === undefined) continue;
    first ??= entry;
    differences.push({
      what: `history at block ${entry.block_number.toString()}, log ${entry.log_index.toString()}`,
      stored: stored === undefined ? "nothing" : words(stored),
      chain: real === undefined ? "nothing" : words(real),
    });
  }
  if (repair && first !== null) await rewrite(trx, chain, first.block_number);
  return differences;
}

/** Above every index of a log: the largest value of the column, which has 32 bits. */
const LAST_LOG = 2_147_483_647;

function placeOf(entry: TransferRow): number[] {
  return [entry.block_number, entry.log_index, entry.sub_index];
}

function words(entry: Entry): string {
  const { contract, token_id, type, quantity, from_address, to_address, transaction_hash, request_id, wallets } = entry;
  return [
    `${type} of ${quantity} of token ${token_id} of ${contract}`,
    `from ${from_address ?? "nobody"} to ${to_address ?? "nobody"}`,
    `in ${transaction_hash} by ${request_id ?? "no request"}`,
    `for ${wallets.join(", ")}`,
  ].join(" ");
}

function history(db: Db, fromBlock = 0): Pages<Entry> {
  return async (after) => {
    // Above every row of the block before.
    const [block = 0, log = 0, sub = 0] = after === null ? [fromBlock - 1, LAST_LOG] : placeOf(after);
    const rows = await db
      .selectFrom("transfers")
      .selectAll()
      .where(sql<boolean>`(block_number, log_index, sub_index) > (${block}, ${log}, ${sub})`)
      .orderBy("block_number")
      .orderBy("log_index")
      .orderBy("sub_index")
      .limit(PAGE)
      .execute();
    if (rows.length === 0) return [];
    const ids = rows.map((row) => row.id);
    const owners = await db.selectFrom("wallet_history").selectAll().where("transfer_id", "in", ids).execute();
    const byTransfer = Map.groupBy(owners, (owner) => owner.transfer_id);
    return rows.map((row) => ({ ...row, wallets: (byTransfer.get(row.id) ?? []).map((one) => one.wallet).sort() }));
  };
}

/** Does not touch the totals: `compareCounters` repairs them afterwards. */
async function rewrite(trx: Trx, chain: Db, fromBlock: number): Promise<void> {
  const dropped = trx.selectFrom("transfers").select("id").where("block_number", ">=", fromBlock);
  await trx.deleteFrom("wallet_history").where("transfer_id", "in", dropped).execute();
  await trx.deleteFrom("transfers").where("block_number", ">=", fromBlock).execute();
  const pages = history(chain, fromBlock);
  for (let page = await pages(null); page.length > 0; page = await pages(page.at(-1) ?? null)) {
    const wallets = new Set(page.flatMap((entry) => entry.wallets));
    await addToHistory(trx, page.map(moveOf), wallets, new CounterDeltas());
  }
}

function moveOf(entry: TransferRow): StoredMove {
  return {
    contract: entry.contract,
    tokenId: entry.token_id,
    quantity: entry.quantity,
    from: entry.from_address,
    to: entry.to_address,
    transactionHash: entry.transaction_hash,
    blockNumber: entry.block_number,
    logIndex: entry.log_index,
    subIndex: entry.sub_index,
    timestamp: entry.timestamp,
    requestId: entry.request_id,
  };
}
