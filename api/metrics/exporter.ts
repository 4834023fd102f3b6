import type { RequestListener, ServerResponse } from "node:http";

import type { Logger } from "pino";
import { AggregatorRegistry, type PrometheusContentType, Registry } from "prom-client";

import type { ServiceState } from "../checks/state.ts";
import { readGauges } from "./gauges.ts";
import type { Meter } from "./meter.ts";

export interface ExporterDeps {
  /** What this process measures. */
  meter: Meter;
  state: ServiceState;
  logger: Logger;
}

/** Answers `/metrics` in the text format of Prometheus. It opens no port. */
export function createExporter(deps: ExporterDeps): RequestListener {
  return (request, response) => {
    const [path] = (request.url ?? "").split("?", 1);
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (path !== "/metrics") end(response, 404, "Not found: only /metrics is here.\n");
    else if (!isRead) end(response.setHeader("Allow", "GET, HEAD"), 405, "Method not allowed: use GET.\n");
    else {
      report(deps).then(
        (text) => {
          end(response, 200, text, Registry.PROMETHEUS_CONTENT_TYPE);
        },
        (error: unknown) => {
          deps.logger.error({ err: error }, "/metrics could not be answered");
          end(response, 500, "The metrics could not be read: see the log of the service.\n");
        },
      );
    }
  };
}

async function report({ meter, state }: ExporterDeps): Promise<string> {
  const found = [await meter.read(), await readGauges(state)];
  return AggregatorRegistry.aggregate<PrometheusContentType>(found).metrics();
}

function end(response: ServerResponse, status: number, text: string, type = "text/plain; charset=utf-8"): void {
  response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store" }).end(text);
}
