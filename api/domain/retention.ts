/** Rows, or parts of rows, that are deleted once they are old. Everything else is kept forever. */
export const PRUNED_KINDS = [
  /** Webhook deliveries that a receiver has accepted. */
  "deliveries",
  /** Test events, with their deliveries. */
  "test_events",
  /** Bytes of signed transactions that ran long ago. */
  "raw_transactions",
  /** Which requests such transactions carried. */
  "batch_items",
  /** Idempotency keys of calls that have finished. */
  "idempotency_keys",
  /** Links and sessions of the console that have ended. */
  "console_sessions",
  /** Webhook deliveries that failed for good. */
  "failed_deliveries",
  /** Long answers to batches. Their idempotency keys stay. */
  "batch_answers",
  /** API tokens that were revoked or have expired. */
  "api_tokens",
] as const;
export type PrunedKind = (typeof PRUNED_KINDS)[number];

/** For how many days each kind is kept; null: forever. */
export type Retention = Readonly<Record<PrunedKind, number | null>>;

/** Rows, and an estimate of the bytes that they take in the database. */
export interface Removed {
  rows: number;
  bytes: number;
}

const DAY = 86_400_000;

/** Rows before this time are old. */
export function oldBefore(now: number, days: number): number {
  return now - days * DAY;
}
