import { sql } from "kysely";

import { type SeriesPoint, type SeriesSpan, BUCKET } from "../../domain/series.ts";
import { GWEI } from "../../domain/wei.ts";
import { counterKeys } from "../db/counters.ts";
import type { Db } from "../db/sql.ts";

const KEY = /^series:(\d+):([a-z_]+)(?:-(\d+))?$/;

/** Every point of a span, oldest first. It reads one range of the counters' keys, whatever the number of requests is. */
export async function readSeries(db: Db, span: SeriesSpan): Promise<SeriesPoint[]> {
  const { from, to, width } = span;
  const points = Array.from({ length: (to - from) / width }, (_, index) => emptyPoint((from + index * width) * BUCKET));
  const { rows } = await sql<{ key: string; value: number }>`
    select key, value from counters
     where key >= ${counterKeys.series(from, "")} and key < ${counterKeys.series(to, "")}`.execute(db);
  for (const { key, value } of rows) {
    const [, bucket, figure, range] = KEY.exec(key) ?? [];
    const point = points[Math.floor((Number(bucket) - from) / width)];
    if (point === undefined) continue;
    if (figure === "completed") point.completed += value;
    else if (figure === "failed") point.failed += value;
    else if (figure === "fee_gwei") point.feeWei += BigInt(value) * GWEI;
    else if (figure === "fee_rest") point.feeWei += BigInt(value);
    else if (figure === "latency") {
      point.latencies.set(Number(range), (point.latencies.get(Number(range)) ?? 0) + value);
    }
  }
  return points;
}

function emptyPoint(at: number): SeriesPoint {
  return { at, completed: 0, failed: 0, latencies: new Map(), feeWei: 0n };
}
