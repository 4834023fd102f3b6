import { monitorEventLoopDelay } from "node:perf_hooks";

import { type Histogram, Registry } from "prom-client";

import type { Condition } from "../domain/conditions.ts";
import { type Metrics, UNTRACED } from "../shared/metrics.ts";
import { counter, gauge, histogram, METRICS } from "./catalog.ts";

/** Metrics with their values, as prom-client writes them. */
export type Measurements = object[];

/** The registry of the process. */
export interface Meter {
  /** Where the parts of the service report. */
  metrics: Metrics;
  read(): Promise<Measurements>;
  stop(): void;
}

export function createMeter(): Meter {
  const registry = new Registry();
  const metrics = createMeasured(registry);
  const loop = watchEventLoop(registry);
  return {
    metrics,
    read: async () => {
      loop.update();
      return registry.getMetricsAsJSON();
    },
    stop: () => {
      loop.stop();
    },
  };
}

/** Adds the metrics that the parts of the service observe. @returns where the parts report. */
function createMeasured(registry: Registry): Metrics {
  const requests = counter(registry, METRICS.requests);
  const sent = histogram(registry, METRICS.requestSent);
  const settled = histogram(registry, METRICS.requestSettled);
  const rpc = histogram(registry, METRICS.rpc);
  const webhooks = counter(registry, METRICS.webhookAttempts);
  const media = histogram(registry, METRICS.media);
  const http = histogram(registry, METRICS.http);
  const database = histogram(registry, METRICS.database);
  const pruned = counter(registry, METRICS.prunedRows);
  const blocks = counter(registry, METRICS.collectedBlocks);
  const bytes = counter(registry, METRICS.collectedBytes);
  const streams = gauge(registry, METRICS.eventStreams);
  const streamed = counter(registry, METRICS.streamedEvents);
  return {
    requests: (changes) => {
      for (const { type, status, errorCode, seconds } of changes) {
        requests.inc({ type, status, error_code: errorCode ?? "" });
        // A clock that was set back must not subtract from a sum.
        const age = Math.max(0, seconds);
        if (status === "processing") sent.observe({ type }, age);
        if (status === "completed" || status === "failed") settled.observe({ type }, age);
      }
    },
    batch: observer(histogram(registry, METRICS.batchItems)),
    batchGas: observer(histogram(registry, METRICS.batchGas)),
    reorg: observer(histogram(registry, METRICS.reorgDepth)),
    rpc: (method, outcome, seconds) => {
      rpc.observe({ method, outcome }, seconds);
    },
    receipts: receiptConditions(registry),
    webhook: (outcome) => {
      webhooks.inc({ outcome });
    },
    media: (outcome, seconds) => {
      media.observe({ outcome }, seconds);
    },
    http: ({ method, route, status, seconds }) => {
      http.observe({ method, route, status }, seconds);
    },
    database: (operation, seconds) => {
      database.observe({ operation }, seconds);
    },
    streams: (open) => {
      streams.set(open);
    },
    streamed: (events) => {
      streamed.inc(events);
    },
    pruned: (kind, rows) => {
      pruned.inc({ kind }, rows);
    },
    collected: (removed, removedBytes) => {
      blocks.inc(removed);
      bytes.inc(removedBytes);
    },
    ...UNTRACED,
  };
}

function observer(metric: Histogram): (value: number) => void {
  return (value) => {
    metric.observe(value);
  };
}

/** The conditions that only the indexer finds out. The others are read on demand. */
function receiptConditions(registry: Registry): Metrics["receipts"] {
  const conditions = gauge(registry, METRICS.condition);
  const report: Metrics["receipts"] = ({ differ, unproven }) => {
    conditions.set({ condition: "receipts_differ" satisfies Condition }, Number(differ));
    conditions.set({ condition: "receipts_unproven" satisfies Condition }, Number(unproven));
  };
  report({ differ: false, unproven: false });
  return report;
}

/** Milliseconds between two samples. A loop without delay is sampled this often, so it is subtracted. */
const RESOLUTION = 20;
/** The figures cover at least this long, in milliseconds, however often they are read. */
const WINDOW = 10_000;
const NANOSECONDS = 1e9;
const QUANTILES = [0.5, 0.99, 1];

/** Measures the delay of the event loop. */
function watchEventLoop(registry: Registry): { update(): void; stop(): void } {
  const delay = gauge(registry, METRICS.eventLoop);
  const samples = monitorEventLoopDelay({ resolution: RESOLUTION });
  samples.enable();
  let startedAt = performance.now();
  return {
    update: () => {
      for (const quantile of QUANTILES) {
        const sample = quantile === 1 ? samples.max : samples.percentile(quantile * 100);
        const seconds = Math.max(0, sample / NANOSECONDS - RESOLUTION / 1_000);
        delay.set({ quantile: quantile.toString() }, samples.count === 0 ? 0 : seconds);
      }
      if (performance.now() - startedAt < WINDOW) return;
      startedAt = performance.now();
      samples.reset();
    },
    stop: () => {
      samples.disable();
    },
  };
}
