import { Registry } from "prom-client";

import type { Metrics } from "../shared/metrics.ts";
import { watchEventLoop } from "./event-loop.ts";
import { createMeasured } from "./measured.ts";

/** What one thread measured. It can be sent to another thread. */
export type Measurements = object[];

/** The registry of one thread. */
export interface Meter {
  /** Where the parts of the service report. */
  metrics: Metrics;
  read(): Promise<Measurements>;
  stop(): void;
}

/** @param thread name of this thread, for the metrics that each thread has. */
export function createMeter(thread: string): Meter {
  const registry = new Registry();
  const metrics = createMeasured(registry);
  const loop = watchEventLoop(registry, thread);
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
