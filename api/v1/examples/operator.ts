import { usageExample } from "../examples.ts";

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
