import { AsyncLocalStorage } from "node:async_hooks";

import type { HttpAnswer, Metrics, RequestChange } from "../shared/metrics.ts";
import { newSpanId, newTrace, parseTraceparent, rootOf, type Span, type SpanContext } from "./span.ts";

/** Most links of one span: more are of no use to a reader. */
const MOST_LINKS = 128;

/** The span in which the running code works. */
interface Active {
  context: SpanContext;
  start: number;
  links: SpanContext[];
}

/** An HTTP call while it is served. */
class Call implements Active {
  readonly context: SpanContext;
  readonly parent: string | null;
  readonly sampled: boolean;
  readonly start = Date.now();
  readonly links: SpanContext[] = [];

  constructor(traceparent: string | undefined) {
    const caller = parseTraceparent(traceparent);
    this.context = caller === null ? newTrace() : { traceId: caller.traceId, spanId: newSpanId() };
    this.parent = caller?.spanId ?? null;
    this.sampled = caller?.sampled ?? true;
  }
}

/**
 * Turns what is measured into spans. Each request has a trace of its own, whose ids follow from the request's id, so the spans
 * of all processes join. A batch is in the trace of its first request, and linked to the others.
 * @param metrics gets everything too.
 */
export function createTraced(metrics: Metrics, add: (span: Span) => void): Metrics {
  const active = new AsyncLocalStorage<Active>();
  const record = recorder(add);
  return {
    ...metrics,
    requests: (changes) => {
      metrics.requests(changes);
      for (const change of changes) recordChange(change, active.getStore(), record);
    },
    rpc: (method, outcome, seconds) => {
      metrics.rpc(method, outcome, seconds);
      const parent = active.getStore();
      // A call outside of every step, such as the indexer's next look for blocks, would be a trace of one span.
      if (parent === undefined) return;
      const attributes = { "rpc.system": "jsonrpc", "rpc.method": method, "moneta.outcome": outcome };
      const failed = !["ok", "error"].includes(outcome);
      record({ name: `rpc ${method}`, kind: "client", seconds, attributes, failed }, parent.context);
    },
    webhook: (outcome, seconds, event) => {
      metrics.webhook(outcome, seconds, event);
      const requestId = requestOf(event);
      const attributes = { "moneta.outcome": outcome };
      const failed = outcome !== "delivered";
      if (requestId !== null)
        record({ name: "webhook", kind: "client", seconds, attributes, failed }, rootOf(requestId));
    },
    media: (outcome, seconds, requestId) => {
      metrics.media(outcome, seconds, requestId);
      const attributes = { "moneta.outcome": outcome };
      record({ name: "media", seconds, attributes, failed: outcome !== "copied" }, rootOf(requestId));
    },
    http: (answer) => {
      metrics.http(answer);
      if (answer.trace instanceof Call && answer.trace.sampled) add(httpSpan(answer, answer.trace));
    },
    serving: (traceparent, next) => {
      const call = new Call(traceparent);
      active.run(call, next);
      return call;
    },
    step: (name, requestIds, work) => traceStep({ name, requestIds, work }, active, record),
  };
}

/** Adds a span to a trace. Without a parent of its own it is a child of `trace`, ends now, and lasted `seconds`. */
type AddSpan = (span: Pick<Span, "name"> & Partial<Span> & { seconds?: number }, trace: SpanContext) => void;

function recorder(add: (span: Span) => void): AddSpan {
  return ({ seconds = 0, ...given }, trace) => {
    const end = given.end ?? Date.now();
    add({
      kind: "internal",
      context: { traceId: trace.traceId, spanId: newSpanId() },
      parent: trace.spanId,
      links: [],
      start: end - seconds * 1_000,
      end,
      attributes: {},
      failed: false,
      ...given,
    });
  };
}

async function traceStep<T>(
  { name, requestIds, work }: { name: string; requestIds: readonly string[]; work: () => Promise<T> },
  active: AsyncLocalStorage<Active>,
  record: AddSpan,
): Promise<T> {
  const links = requestIds.map(rootOf);
  const parent = active.getStore()?.context ?? links.shift() ?? newTrace();
  const context = { traceId: parent.traceId, spanId: newSpanId() };
  const step: Active = { context, start: Date.now(), links: links.slice(0, MOST_LINKS) };
  let failed = true;
  try {
    const result = await active.run(step, work);
    failed = false;
    return result;
  } finally {
    record({ name, ...step, end: Date.now(), failed }, parent);
  }
}

function recordChange(
  { id, type, status, errorCode, seconds, stepSeconds = 0 }: RequestChange,
  within: Active | undefined,
  record: AddSpan,
): void {
  const root = rootOf(id);
  if (status === "pending") {
    within?.links.push(root);
    const start = within === undefined ? {} : { start: within.start, links: [within.context] };
    record({ name: "accept", ...start }, root);
  } else if (status === "processing") {
    record({ name: "send", seconds, links: within === undefined ? [] : [within.context] }, root);
  } else {
    record({ name: "settle", seconds: stepSeconds }, root);
    const failed = status === "failed";
    const attributes = {
      "moneta.request_id": id,
      "moneta.request_type": type,
      "moneta.status": status,
      ...(errorCode !== null && { "moneta.error_code": errorCode }),
    };
    record({ name: `request ${type}`, context: root, parent: null, seconds, attributes, failed }, root);
  }
}

function httpSpan({ method, route, status, seconds }: HttpAnswer, call: Call): Span {
  return {
    name: `${method} ${route}`,
    kind: "server",
    context: call.context,
    parent: call.parent,
    links: call.links.slice(0, MOST_LINKS),
    start: call.start,
    end: call.start + seconds * 1_000,
    attributes: {
      "http.request.method": method,
      "http.route": route,
      ...(status === "aborted" ? { "error.type": status } : { "http.response.status_code": status }),
    },
    failed: status === "aborted" || status >= 500,
  };
}

/** @returns the request that an event tells about; null for others. */
function requestOf(event: string): string | null {
  const { request_id: id } = JSON.parse(event) as { request_id?: unknown };
  return typeof id === "string" && /^[0-9a-f]{64}$/.test(id) ? id : null;
}
