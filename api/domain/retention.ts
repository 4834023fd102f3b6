/** Rows, or parts of rows, that are deleted once they are old, and the setting that says when. Everything else is kept forever. */
const SETTING_OF = {
  /** Webhook deliveries that a receiver has accepted. */
  deliveries: "days",
  /** Test events, with their deliveries. */
  test_events: "days",
  /** Bytes of signed transactions that ran long ago. */
  raw_transactions: "days",
  /** Which requests such transactions carried. */
  batch_items: "days",
  /** Links and sessions of the console that have ended. */
  console_sessions: "days",
  /** Webhook deliveries that failed for good. */
  failed_deliveries: "failedDays",
  /** Long answers to batches. Their idempotency keys stay. */
  batch_answers: "failedDays",
  /** API tokens that were revoked or have expired. */
  api_tokens: "failedDays",
} as const;

export type PrunedKind = keyof typeof SETTING_OF;
export const PRUNED_KINDS = Object.keys(SETTING_OF) as PrunedKind[];

/** `RETAIN_DAYS` and `RETAIN_FAILED_DAYS`; null: forever. */
export interface Retention {
  days: number | null;
  failedDays: number | null;
}

/** For how many days a kind is kept; null: forever. */
export function daysOf(retain: Retention, kind: PrunedKind): number | null {
  return retain[SETTING_OF[kind]];
}

/** Rows, and an estimate of the bytes that they take in the database. */
export interface Removed {
  rows: number;
  bytes: number;
}
