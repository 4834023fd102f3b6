import { type GasMeasurement, UNMEASURED_GAS } from "./gas-estimate.ts";

/** What an operator must know and do when the chain has a transaction of a lane that the database does not know. */
export function unknownTransaction(hash: string): string {
  return (
    `The chain has transaction ${hash} of this service's lanes, and the database does not know it: the database is an old ` +
    "backup, or another service uses the same seed. Nothing is sent, so that no request runs twice. Stop the service, make " +
    "sure that no other service uses the seed, and run `npm run cli -- reconcile`."
  );
}

/** What an operator must know and do when a lane has sent transactions, and the database has sent none. */
export function databaseOfNoLane(address: string, transactions: number): string {
  return (
    `Lane ${address} has ${transactions.toString()} transactions on chain, and this database has sent none: another database ` +
    "belongs to this seed. Set DATABASE_URL or DATA_DIR to that database. If it is lost, restore a backup with `npm run cli -- " +
    "restore`, or fill this database from the chain with `npm run cli -- reconcile`. If this is a new installation with an " +
    "old seed, and no other service uses the seed, say so once with `npm run cli -- keys reuse`. Nothing was sent."
  );
}

/**
 * States of the service that its operator must look at. The log, `doctor` and `/metrics` use these names: the field
 * `condition`, and the label of `moneta_condition`.
 */
export const CONDITIONS = [
  "low_funds",
  "relay_paused",
  "contract_quarantined",
  "minting_stopped",
  "backlog_growing",
  "row_parked",
  "lane_stuck",
  "node_down",
  "nodes_disagree",
  "receipts_differ",
  "receipts_unproven",
] as const;
export type Condition = (typeof CONDITIONS)[number];

/**
 * Rows of the database that can be parked, by the work that fails on them: sending a request, copying its media, delivering a
 * webhook, storing the metadata of a minted token (only 0.3.0), storing a block, deleting an old row,
 * asking a followed contract.
 */
export const PARKED_KINDS = ["request", "media_job", "delivery", "metadata", "block", "old_row"] as const;
export type ParkedKind = (typeof PARKED_KINDS)[number];

/** Most nodes in the list of `RPC_URLS`. */
export const MOST_NODES = 8;

/** How one of several nodes is. All but `up` mean that it is not used now. */
export const NODE_WORDS = ["up", "down", "rate_limited", "wrong_chain", "behind", "disagrees"] as const;
export type NodeWord = (typeof NODE_WORDS)[number];

/** The results of a check of `readyz`, and what each means. Anybody may read them, so they are fixed and name nothing. */
export const READINESS_WORDS = {
  ok: "It works.",
  unavailable: "It does not answer.",
  rate_limited: "The node works, but its provider limits the rate of calls.",
  wrong_chain: "The node serves another chain than the one that the database belongs to.",
  node_down: "One of several nodes cannot be used. The others do its work.",
  parked: "The work on a row always fails. The row is parked, and all others are worked on.",
  failing: "This worker or lane cannot work now. It retries, and requests wait.",
} as const;
export type ReadinessWord = keyof typeof READINESS_WORDS;

export interface Readiness {
  /** False only if the process can do nothing: it cannot read the database, or the node serves another chain. */
  ready: boolean;
  checks: Record<string, ReadinessWord>;
  /** By check: `ok`, or what is wrong, with names and addresses. Only for the operator. */
  details: Record<string, string>;
}

/** A lane is low on funds when it cannot pay for this many transactions like the recent ones at the present fees. */
export const FUNDS_FOR_BATCHES = 10n;
/** Gas of a small transaction: it counts where the recent ones used less, or there are none. */
const SMALL_BATCH_GAS = 250_000;

/** A lane is stuck when a transaction of it is unmined for longer than this, in milliseconds. */
export const LANE_STUCK = 300_000;

/** The backlog grows when a request waits longer than this to be sent, in milliseconds. */
export const BACKLOG_SLOW = 120_000;

/** What is offered for a unit of gas: enough until the base fee doubles (EIP-1559), never more than the operator accepts. In wei. */
export function offeredPrice(baseFee: bigint, priorityFee: bigint, maxFeePerGas: bigint): bigint {
  const offered = 2n * baseFee + priorityFee;
  return offered < maxFeePerGas ? offered : maxFeePerGas;
}

/**
 * What a lane needs to send a transaction like the recent ones, in wei. The relayer offers up to this fee, and the node requires
 * funds for all of it. On some rollups a fee for its L1 data comes in addition.
 * @param recentGas what the recent ones used on average; null: none was sent.
 * @param measurement null: what calls cost was not measured yet. @param gasPrice the most that is offered for a unit of gas, in wei.
 */
export function usualBatchCost(recentGas: number | null, measurement: GasMeasurement | null, gasPrice: bigint): bigint {
  const { compact, l1 } = measurement ?? UNMEASURED_GAS;
  const gas = Math.ceil(Math.max(recentGas ?? 0, SMALL_BATCH_GAS));
  const mints = gas / Math.max(1, compact.mintErc721);
  return BigInt(gas) * gasPrice + BigInt(Math.ceil(l1.itemFee * mints));
}

/** @param batchCost what a usual transaction may cost, in wei. */
export function isLowOnFunds(funds: bigint, batchCost: bigint): boolean {
  return funds < batchCost * FUNDS_FOR_BATCHES;
}

/** The period, in milliseconds, whose spending shows for how long the funds of a lane last: one day. */
export const SPENDING_PERIOD = 86_400_000;

/** For how many days funds last, with one decimal, rounded down; null: nothing was spent. @param spent in one day. */
export function daysLeft(funds: bigint, spent: bigint): number | null {
  return spent === 0n ? null : Number((funds * 10n) / spent) / 10;
}

/** For the log at the start, and for `doctor`. @returns null when hosted tokens point at this service */
export function wrongBase(base: string, expected: string): string | null {
  if (base === expected) return null;
  return (
    `Hosted tokens point at ${base}, but PUBLIC_URL gives ${expected}. Correct PUBLIC_URL, or have the relay's owner call ` +
    `setHostedBaseURI on the relay.`
  );
}

/** In milliseconds. @param since milliseconds since 1970; null: there is nothing. */
export function ageOf(since: number | null, now: number): number {
  return since === null ? 0 : Math.max(0, now - since);
}
