import type { Request, RequestHandler, Response } from "express";

import { type CallTrace, type Metrics, secondsSince } from "../shared/metrics.ts";
import { CallValue } from "./call-value.ts";

/** The template of each answer's route. A path is never a label: callers could make as many as they like. */
const ROUTES = new CallValue<string>();
/** Reports the measurement of each answer. */
const REPORTS = new CallValue<() => void>();

/** Methods that the service knows. All others share one label. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
/** First segments of paths outside of the endpoints. */
const SEGMENTS = new Set(["v1", "healthz", "readyz", "docs", "openapi.json", "metadata", "ipfs"]);

/** Names the route of a call. @param template such as `/v1/requests/:id`. */
export function nameRoute(response: Response, template: string): void {
  ROUTES.set(response, template);
}

/** Ends the measurement of a call whose answer is a stream: how long the stream stays open says nothing about the service. */
export function endMeasurement(response: Response): void {
  REPORTS.get(response)?.();
}

/** Measures each call until its answer is complete, or its caller has closed the connection. */
export function measure(metrics: Pick<Metrics, "http" | "serving">): RequestHandler {
  return (request, response, next) => {
    const started = performance.now();
    // The router changes the path while it works.
    const fallback = fallbackOf(request.path);
    let trace: CallTrace | null = null;
    const report = (status: number | "aborted") => {
      response.off("close", closed);
      metrics.http({
        method: methodOf(request),
        route: ROUTES.get(response) ?? fallback,
        status,
        seconds: secondsSince(started),
        trace,
      });
    };
    const closed = () => {
      report(response.writableFinished ? response.statusCode : "aborted");
    };
    REPORTS.set(response, () => {
      report(response.statusCode);
    });
    response.once("close", closed);
    trace = metrics.serving(request.get("traceparent"), next);
  };
}

function methodOf({ method }: Request): string {
  return METHODS.has(method) ? method : "other";
}

/** For calls that reach no endpoint, as without a valid token. */
function fallbackOf(path: string): string {
  const [, first = "", ...rest] = path.split("/");
  if (first === "" && rest.length === 0) return "/";
  if (!SEGMENTS.has(first)) return "other";
  return rest.length === 0 ? `/${first}` : `/${first}/*`;
}
