/**
 * States of the service that its operator must look at. The log, `doctor` and `/metrics` use these names: the field
 * `condition`, and the label of `moneta_condition`.
 */
export const CONDITIONS = [
  "low_funds",
  "relay_paused",
  "contract_quarantined",
  "backlog_growing",
  "row_parked",
] as const;
export type Condition = (typeof CONDITIONS)[number];

/**
 * Rows of the database that can be parked, by the work that fails on them: sending a request, copying its media, delivering a
 * webhook, pinning or announcing content, storing the metadata of a minted token, deleting an old row.
 */
export const PARKED_KINDS = ["request", "media_job", "delivery", "pin", "announcement", "metadata", "old_row"] as const;
export type ParkedKind = (typeof PARKED_KINDS)[number];

/** What `readyz` says of the check `rows` while a row is parked. The process works, so it stays ready. */
export const PARKED = "parked";

/** A lane is low on funds when it cannot pay for this many full batches at the present fees. */
export const FUNDS_FOR_BATCHES = 10n;

/** The backlog grows when a request waits longer than this to be sent, in milliseconds. */
export const BACKLOG_SLOW = 120_000;

/**
 * What a lane needs to send one full batch, in wei. The relayer offers up to this fee, and the node requires funds for all
 * of it.
 * @param gas gas of a full batch.
 */
export function fullBatchCost(gas: number, fees: { baseFee: bigint; priorityFee: bigint }): bigint {
  return BigInt(gas) * (2n * fees.baseFee + fees.priorityFee);
}

/** @param batchCost what one full batch may cost, in wei. */
export function isLowOnFunds(funds: bigint, batchCost: bigint): boolean {
  return funds < batchCost * FUNDS_FOR_BATCHES;
}

/** What a lane spent in so many milliseconds, one day, says for how long its funds last. */
export const SPENDING_PERIOD = 86_400_000;

/** For how many days funds last, with one decimal, rounded down; null: nothing was spent. @param spent in one day. */
export function daysLeft(funds: bigint, spent: bigint): number | null {
  return spent === 0n ? null : Number((funds * 10n) / spent) / 10;
}
