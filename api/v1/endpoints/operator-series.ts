import { percentile, seriesSpan, SLOT } from "../../domain/series.ts";
import { readSeries } from "../../store/listings/series.ts";
import { defineServiceEndpoint } from "../endpoint.ts";
import { seriesExample } from "../examples/operator.ts";
import { isoTime } from "../present/time.ts";
import { series, seriesQuery } from "../schemas/operator.ts";
import { none } from "../schemas/params.ts";

const DEFAULT_HOURS = 24;

export function operatorSeries() {
  return defineServiceEndpoint({
    method: "get",
    path: "/operator/series",
    summary: "Show how many requests became final over time, their latency and their fees",
    name: "getOperatorSeries",
    description:
      "Over all apps, for charts. Every request is counted when it becomes final: nothing is sampled. Latencies are counted in ranges, so the percentiles are exact to 10 %. A fee that the node showed only later is missing, and a later reorg changes nothing here: `GET /v1/operator/apps` and `GET /v1/usage` have the exact fees. Requests that became final before the service had this call are missing.",
    examples: { answer: seriesExample },
    scope: "read",
    caller: "operator",
    params: none,
    query: seriesQuery,
    response: series,
    handle: async ({ database }, { query }) => {
      const span = seriesSpan(query.hours ?? DEFAULT_HOURS, Date.now());
      const points = await readSeries(database.read, span);
      return {
        seconds_per_point: (span.width * SLOT) / 1_000,
        points: points.map(({ at, completed, failed, latencies, feeWei }) => ({
          at: isoTime(at),
          completed,
          failed,
          latency_p50_ms: percentile(latencies, 0.5),
          latency_p95_ms: percentile(latencies, 0.95),
          fee_wei: feeWei.toString(),
        })),
      };
    },
  });
}
