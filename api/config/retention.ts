import { z } from "zod";

import type { Retention } from "../domain/retention.ts";

const FOREVER = "forever";
/** A hundred years. */
const MOST_DAYS = 36_500;

/** A number of days, or `forever` (null). */
function days(least: number) {
  const message = `must be ${FOREVER}, or a whole number of days from ${least.toString()} to ${MOST_DAYS.toString()}`;
  return z
    .string()
    .refine((text) => text === FOREVER || /^\d{1,5}$/.test(text), message)
    .transform((text) => (text === FOREVER ? null : Number(text)))
    .refine((value) => value === null || (value >= least && value <= MOST_DAYS), message);
}

/** How long rows that the service can do without are kept. The defaults keep every promise of the API. */
export const RETENTION_VARIABLES = {
  RETAIN_DELIVERIES_DAYS: {
    schema: days(1),
    fallback: "30",
    description:
      "Days for which a webhook delivery is kept after its receiver has accepted it, or `forever`. Deliveries that wait are kept, and `RETAIN_FAILED_DELIVERIES_DAYS` says how long failed ones are. The events themselves are never pruned.",
  },
  RETAIN_TEST_EVENTS_DAYS: {
    schema: days(1),
    fallback: "7",
    description: "Days for which test events are kept, with their deliveries, or `forever`.",
  },
  RETAIN_RAW_TRANSACTIONS_DAYS: {
    schema: days(1),
    fallback: "30",
    description:
      "Days for which the bytes of a signed transaction are kept, or `forever`. Only those of transactions that no reorg can remove are pruned; their hashes stay.",
  },
  RETAIN_BATCH_ITEMS_DAYS: {
    schema: days(1),
    fallback: "30",
    description:
      "Days for which the database keeps which requests a transaction carried, or `forever`. Only for transactions that no reorg can remove. Requests and their costs stay.",
  },
  RETAIN_IDEMPOTENCY_KEYS_DAYS: {
    schema: days(7),
    fallback: FOREVER,
    description:
      "Days for which an `Idempotency-Key` is kept, or `forever`. A call that is repeated with a key that was pruned is a new call and may mint a second time: set it far above the longest time after which your apps repeat a call. A key is kept at least until its request is final.",
  },
  RETAIN_CONSOLE_SESSIONS_DAYS: {
    schema: days(1),
    fallback: "30",
    description:
      "Days for which a link or a session of the console is listed after it has expired, or `forever`. `npm run cli -- console list` shows them.",
  },
  RETAIN_FAILED_DELIVERIES_DAYS: {
    schema: days(1),
    fallback: "365",
    description:
      "Days for which a webhook delivery is kept after its last try has failed, or `forever`. Until it is deleted, it can be sent again.",
  },
  RETAIN_BATCH_ANSWERS_DAYS: {
    schema: days(7),
    fallback: "365",
    description:
      "Days for which the answer to a batch is kept under its `Idempotency-Key`, if it has more than 2,000 characters, or `forever`. The key itself stays: a call that is repeated later is not run again, but gets 410 `answer_expired` instead of its first answer.",
  },
  RETAIN_API_TOKENS_DAYS: {
    schema: days(1),
    fallback: "365",
    description: "Days for which a token of an app is listed after it was revoked or has expired, or `forever`.",
  },
} as const;

type RetentionVariable = keyof typeof RETENTION_VARIABLES;

export function readRetention(read: (variable: RetentionVariable) => number | null): Retention {
  return {
    deliveries: read("RETAIN_DELIVERIES_DAYS"),
    test_events: read("RETAIN_TEST_EVENTS_DAYS"),
    raw_transactions: read("RETAIN_RAW_TRANSACTIONS_DAYS"),
    batch_items: read("RETAIN_BATCH_ITEMS_DAYS"),
    idempotency_keys: read("RETAIN_IDEMPOTENCY_KEYS_DAYS"),
    console_sessions: read("RETAIN_CONSOLE_SESSIONS_DAYS"),
    failed_deliveries: read("RETAIN_FAILED_DELIVERIES_DAYS"),
    batch_answers: read("RETAIN_BATCH_ANSWERS_DAYS"),
    api_tokens: read("RETAIN_API_TOKENS_DAYS"),
  };
}

export const DEFAULT_RETENTION: Retention = readRetention((variable) => {
  const { schema, fallback } = RETENTION_VARIABLES[variable];
  return schema.parse(fallback);
});
