import type { Logger } from "pino";

import type { Metrics } from "../shared/metrics.ts";
import { type Collector, SpanExporter } from "./span-exporter.ts";
import { createTraced } from "./traced.ts";

/** What the parts of the service report to, when they are traced. */
export interface Traces {
  metrics: Metrics;
  /** Sends the last spans. */
  stop(): Promise<void>;
}

/** Traces what is measured. @param metrics gets everything too. */
export function traceTo(collector: Collector, metrics: Metrics, logger: Logger): Traces {
  const exporter = new SpanExporter(collector, logger);
  return {
    metrics: createTraced(metrics, (span) => {
      exporter.add(span);
    }),
    stop: () => exporter.stop(),
  };
}
