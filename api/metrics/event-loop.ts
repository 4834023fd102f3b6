import { monitorEventLoopDelay } from "node:perf_hooks";

import type { Registry } from "prom-client";

import { gauge, METRICS } from "./catalog.ts";

/** Milliseconds between two samples. A loop without delay is sampled this often, so it is subtracted. */
const RESOLUTION = 20;
/** The figures cover at least this long, in milliseconds, however often they are read. */
const WINDOW = 10_000;
const NANOSECONDS = 1e9;
const QUANTILES = [0.5, 0.99, 1];

/** Measures the delay of this thread's event loop. @returns a function that ends it. */
export function watchEventLoop(registry: Registry, thread: string): { update(): void; stop(): void } {
  const delay = gauge(registry, METRICS.eventLoop);
  const samples = monitorEventLoopDelay({ resolution: RESOLUTION });
  samples.enable();
  let startedAt = performance.now();
  return {
    update: () => {
      for (const quantile of QUANTILES) {
        const sample = quantile === 1 ? samples.max : samples.percentile(quantile * 100);
        const seconds = Math.max(0, sample / NANOSECONDS - RESOLUTION / 1_000);
        delay.set({ thread, quantile: quantile.toString() }, samples.count === 0 ? 0 : seconds);
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
