import { FaultBackoff } from "../domain/backoff.ts";
import type { ChainClient } from "../chain/client.ts";
import type { Receipt } from "../chain/transaction.ts";
import type { Cost } from "../domain/cost-shares.ts";
import { dayOf } from "../domain/day.ts";
import { CounterDeltas } from "../store/db/counters.ts";
import type { Database } from "../store/db/database.ts";
import { lockLedger } from "../store/db/sql.ts";
import { storedBlock } from "../store/ledger/blocks.ts";
import { type BatchCost, batchesWithoutCost, recordCosts } from "../store/requests/costs.ts";

/** More gas than any block has, and a larger fee than anybody pays (a million ether): the node's answer is wrong. */
const ABSURD = { gas: 10n ** 12n, feeWei: 10n ** 24n };

/** What a transaction cost; null: the node does not tell it. */
export function costOf({ gasUsed, feeWei }: Receipt): Cost | null {
  if (feeWei === null || feeWei >= ABSURD.feeWei || gasUsed >= ABSURD.gas) return null;
  return { gas: Number(gasUsed), feeWei };
}

/** What the transaction of a batch cost in a block; null: the node shows no receipt from this block. */
export function costIn(receipt: Receipt | null | undefined, block: { number: number; hash: string }): Cost | null {
  if (receipt?.blockNumber !== block.number || receipt.blockHash !== block.hash) return null;
  return costOf(receipt);
}

/**
 * The receipts of transactions. Their costs then count as final. With several nodes, a second one is asked, too. If the two
 * report different costs of a transaction in the same block, all nodes are asked, and the cost that most of them report counts.
 * Without a majority, the receipt counts as missing, and is asked for again later. Until then the estimate counts against the gas
 * budgets, so a node that lies about costs can neither empty a budget nor lift its limit.
 */
export async function agreedReceipts(client: ChainClient, hashes: string[]): Promise<(Receipt | null)[]> {
  const own = await client.receipts(hashes);
  if (client.nodes.count === 1 || own.every((one) => one === null)) return own;
  const other = await client.nodes.second(() => client.receipts(hashes));
  const open = hashes.filter((_, index) => differInCost(own[index], other?.[index]));
  if (open.length === 0) return own;
  const answers = await client.nodes.each(() => client.receipts(open));
  const agreed = new Map(open.map((hash, index) => [hash, majority(answers.map((answer) => answer[index] ?? null))]));
  const transactions = open.filter((hash) => agreed.get(hash) === null);
  if (transactions.length > 0) client.nodes.report("costs", { transactions: transactions.slice(0, MOST_NAMED) });
  return hashes.map((hash, index) => agreed.get(hash) ?? (agreed.has(hash) ? null : (own[index] ?? null)));
}

/** Transactions that a line of the log names. */
const MOST_NAMED = 5;

/** The receipt whose cost is that of more than half of the answers with a cost; null: there is no such majority. */
function majority(answers: readonly (Receipt | null)[]): Receipt | null {
  const shown = answers.filter((one) => one !== null && one.feeWei !== null);
  const isSame = (one: Receipt | null, other: Receipt | null) =>
    one?.blockHash === other?.blockHash && !differInCost(one, other);
  return shown.find((one) => shown.filter((other) => isSame(one, other)).length * 2 > shown.length) ?? null;
}

/** Whether two nodes contradict each other. A receipt that is missing, of another block, or without the price says nothing. */
export function differInCost(own: Receipt | null | undefined, other: Receipt | null | undefined): boolean {
  if (own == null || other == null || own.blockHash !== other.blockHash) return false;
  return own.gasUsed !== other.gasUsed || (own.feeWei !== other.feeWei && own.feeWei !== null && other.feeWei !== null);
}

/** Batches whose receipts are read at once. */
const LIMIT = 50;

/** Milliseconds before the node is asked again. It doubles while the node does not answer for every batch. */
const WAIT = { first: 1_000, longest: 600_000 };

/** Asks for missing costs, more and more rarely while they stay missing: some nodes never have them. */
export class MissingCosts {
  readonly #backoff = new FaultBackoff(WAIT, () => performance.now());

  async record(deps: Parameters<typeof recordMissingCosts>[0]): Promise<void> {
    if (this.#backoff.waiting) return;
    if ((await recordMissingCosts(deps)) > 0) this.#backoff.failed();
    else this.#backoff.clear();
  }
}

/**
 * Records the costs of batches whose receipts the node did not show when their blocks were stored. A missing receipt never
 * holds up the blocks.
 * @returns how many batches still have no known cost.
 */
export async function recordMissingCosts(deps: {
  database: Database;
  client: ChainClient;
  now: () => number;
}): Promise<number> {
  const { database, client, now } = deps;
  const missing = await batchesWithoutCost(database.read, LIMIT);
  if (missing.length === 0) return 0;
  const receipts = await agreedReceipts(
    client,
    missing.flatMap(({ hashes }) => hashes),
  );
  const found: { cost: Cost; hash: string; batchId: number; blockNumber: number }[] = [];
  let at = 0;
  for (const { batchId, blockNumber, hashes } of missing) {
    const ofBatch = receipts.slice(at, at + hashes.length);
    at += hashes.length;
    const receipt = ofBatch.find((one) => one?.blockNumber === blockNumber) ?? null;
    const cost = receipt === null ? null : costOf(receipt);
    if (receipt !== null && cost !== null) found.push({ cost, hash: receipt.blockHash, batchId, blockNumber });
  }
  const left = missing.length - found.length;
  if (found.length === 0) return left;
  await database.write(async (trx) => {
    await lockLedger(trx);
    const costs: BatchCost[] = [];
    for (const { cost, hash, batchId, blockNumber } of found) {
      const block = await storedBlock(trx, blockNumber);
      // The node is on another branch than the stored blocks: after the rollback, the cost is read with the new block.
      if (block !== undefined && block.hash !== hash) continue;
      costs.push({ ...cost, batchId, blockNumber, day: dayOf(block?.timestamp ?? now()) });
    }
    const counters = new CounterDeltas();
    await recordCosts(trx, costs, counters);
    await counters.flush(trx);
  });
  return left;
}
