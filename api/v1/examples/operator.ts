import { ALICE, usageExample } from "../examples.ts";

/* Example answers of the operator's calls. */

const TIME = "2026-05-04T10:00:00.000Z";

export const operatorAppExample = {
  app_id: "8a7c1f52-5a50-4f0a-9d35-3ff0c9d9f6a1",
  name: "my-shop",
  created_at: TIME,
  today: usageExample.total,
  last_30_days: usageExample.total,
  quotas: usageExample.quotas,
};

export const seriesExample = {
  points: [
    {
      at: TIME,
      completed: 118,
      failed: 2,
      latency_p50_ms: 4_695,
      latency_p95_ms: 9_390,
      fee_wei: "14688960000000000",
    },
  ],
  seconds_per_point: 1_200,
};

export const statusExample = {
  ready: true,
  checks: { database: "ok", chain: "ok", relayer: "ok" },
  backlog: { media: 0, pending: 3, processing: 12 },
  oldest_pending_seconds: 1.4,
  indexer: { checkpoint: 21_000_000, head: 21_000_001, lag_blocks: 1 },
  deliveries: { waiting: 2, dead: 0, oldest_overdue_seconds: null },
  lanes: [
    {
      lane: 0,
      address: ALICE,
      in_use: true,
      balance_wei: "1500000000000000000",
      spent_24h_wei: "14688960000000000",
      days_left: 102.1,
      low_funds: false,
      oldest_unmined_seconds: 2.5,
    },
  ],
  relay_paused: false,
  quarantined_contracts: 0,
  processes: { api: 1, relayer: 1, other: 0 },
};

export const doctorExample = {
  result: "warning" as const,
  findings: [
    { check: "chain", result: "ok" as const, words: "the node serves chain 1 and is in sync", condition: null },
    {
      check: "funds",
      result: "warning" as const,
      words: "Lane 0 is low on funds. `npm run cli -- top-up` prints its address.",
      condition: "low_funds" as const,
    },
  ],
  checked_at: TIME,
};
