import type { AddressInfo } from "node:net";

import type { Logger } from "pino";

import type { Settings } from "../config/settings.ts";
import type { ExporterDeps } from "../metrics/exporter.ts";
import type { Meter } from "../metrics/meter.ts";
import { NO_METRICS } from "../shared/metrics.ts";
import { StartupError } from "./startup-error.ts";

/** Milliseconds that an answer gets to finish when the service stops. */
const STOP_DEADLINE = 1_000;
/** Measures nothing. */
const NO_METER: Meter = { metrics: NO_METRICS, read: () => Promise.resolve([]), stop: () => undefined };

/** Without METRICS_PORT nothing is measured, without a collector nothing is traced. @param opened stops both. */
export async function openMeter(settings: Settings, logger: Logger, opened: AsyncDisposableStack): Promise<Meter> {
  // The code that measures or traces is loaded only where it is used.
  const meter = settings.metricsPort === null ? NO_METER : (await import("../metrics/meter.ts")).createMeter();
  opened.defer(() => {
    meter.stop();
  });
  if (settings.traces === null) return meter;
  const { traceTo } = await import("../metrics/traced.ts");
  const traces = traceTo(settings.traces, meter.metrics, logger);
  opened.defer(() => traces.stop());
  return { ...meter, metrics: traces.metrics };
}

/**
 * Starts `/metrics` on a port of its own.
 * @param opened takes over the server, to be closed.
 * @returns the port that it listens at; null without METRICS_PORT.
 * @throws StartupError
 */
export async function exportMetrics(
  { metricsPort: port, metricsHost: host }: Settings,
  deps: ExporterDeps,
  opened: AsyncDisposableStack,
): Promise<number | null> {
  if (port === null) return null;
  const { createExporter } = await import("../metrics/exporter.ts");
  const { createHttpServer, listen, stopHttpServer } = await import("../v1/server.ts");
  const server = createHttpServer(createExporter(deps));
  try {
    await listen(server, { port, host });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartupError(
      `/metrics cannot listen: ${reason}. Set METRICS_PORT or METRICS_HOST to a free address, or remove METRICS_PORT.`,
      { cause: error },
    );
  }
  opened.defer(() => stopHttpServer(server, STOP_DEADLINE));
  return (server.address() as AddressInfo).port;
}
