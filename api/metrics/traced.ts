import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";

import {
  diag,
  type DiagLogger,
  DiagLogLevel,
  type SpanContext as OtelContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
} from "@opentelemetry/api";
import { type ExportResult, ExportResultCode, millisToHrTime } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  detectResources,
  type Resource,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter as Exporter } from "@opentelemetry/sdk-trace";
import type { Logger } from "pino";

import type { Settings } from "../config/settings.ts";
import { inTime } from "../shared/pause.ts";
import type { HttpAnswer, Metrics, RequestChange } from "../shared/metrics.ts";

/** Traces what is measured. @param metrics gets everything too. @returns where to report, and what sends the last spans. */
export function traceTo(collector: Collector, metrics: Metrics, logger: Logger) {
  const exporter = new SpanExporter(collector, logger);
  return {
    metrics: createTraced(metrics, (span) => {
      exporter.add(span);
    }),
    stop: () => exporter.stop(),
  };
}

/** Most spans that wait for the collector. Later ones are dropped: traces must never use up the memory. */
const MOST_WAITING = 8_192;
/** Milliseconds between two messages while fewer spans than a message holds wait. */
const EVERY = 1_000;
/** Milliseconds that the collector gets for a message, further tries included. */
const TIMEOUT = 10_000;
/** Milliseconds that the last messages get when the service stops. */
const LAST_TIMEOUT = 2_000;

/** Its headers may contain a secret, so they are never logged. */
type Collector = NonNullable<Settings["traces"]>;

/** Sends spans to a collector, by OTLP over HTTP. A span that the collector does not take in time is dropped. */
export class SpanExporter {
  readonly #processor: BatchSpanProcessor;
  readonly #toReadable: (span: Span) => ReadableSpan;

  constructor({ endpoint, headers, serviceName }: Collector, logger: Logger) {
    diag.setLogger(warningsTo(logger), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
    const url = `${endpoint}/v1/traces`;
    this.#processor = new BatchSpanProcessor({
      exporter: new LoggingExporter(new OTLPTraceExporter({ url, headers, timeoutMillis: TIMEOUT }), logger),
      maxQueueSize: MOST_WAITING,
      scheduledDelayMillis: EVERY,
      exportTimeoutMillis: TIMEOUT,
    });
    const named = resourceFromAttributes({ "service.name": serviceName });
    this.#toReadable = toReadable(detectResources({ detectors: [resourceAttributesEnvDetector] }).merge(named));
  }

  add(span: Span): void {
    this.#processor.onEnd(this.#toReadable(span));
  }

  /** Sends what waits, once, and then no more. What fails is in the log. */
  async stop(): Promise<void> {
    const sent = this.#processor.shutdown().catch(() => undefined);
    await inTime(sent, LAST_TIMEOUT, () => undefined);
  }
}

/** Logs when spans begin to be lost and when that ends, not for each message. */
class LoggingExporter implements Exporter {
  readonly #inner: Exporter;
  readonly #logger: Logger;
  #lost = 0;

  constructor(inner: Exporter, logger: Logger) {
    this.#inner = inner;
    this.#logger = logger;
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#inner.export(spans, (result) => {
      if (result.code === ExportResultCode.SUCCESS) this.#delivered();
      else this.#failed(spans.length, result.error);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#inner.shutdown();
  }

  #failed(count: number, error: Error | undefined): void {
    if (this.#lost === 0) {
      // The URL may contain a key, so no message includes it.
      const reason = error?.message;
      const what = "traces cannot be delivered and are dropped: check OTEL_EXPORTER_OTLP_ENDPOINT and the collector";
      this.#logger.warn({ reason }, what);
    }
    this.#lost += count;
  }

  #delivered(): void {
    if (this.#lost === 0) return;
    this.#logger.info({ dropped: this.#lost }, "traces are delivered again");
    this.#lost = 0;
  }
}

/** Warnings of the library, such as spans that it drops because too many wait. Its errors are failed messages, logged above. */
function warningsTo(logger: Logger): DiagLogger {
  const nothing = () => undefined;
  const warn = (message: string) => {
    logger.warn(`traces: ${message}`);
  };
  return { error: nothing, warn, info: nothing, debug: nothing, verbose: nothing };
}

const KINDS = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

/** @returns a function that turns a span of the service into one of OpenTelemetry's library. */
function toReadable(resource: Resource): (span: Span) => ReadableSpan {
  return (span) => {
    const context = contextOf(span.context);
    return {
      name: span.name,
      kind: KINDS[span.kind],
      spanContext: () => context,
      ...(span.parent === null
        ? {}
        : { parentSpanContext: contextOf({ traceId: span.context.traceId, spanId: span.parent }) }),
      startTime: millisToHrTime(span.start),
      endTime: millisToHrTime(span.end),
      duration: millisToHrTime(span.end - span.start),
      status: { code: span.failed ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
      attributes: span.attributes,
      links: span.links.map((link) => ({ context: contextOf(link) })),
      events: [],
      ended: true,
      resource,
      instrumentationScope: { name: "moneta" },
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    };
  };
}

function contextOf({ traceId, spanId }: SpanContext): OtelContext {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED };
}

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
function createTraced(metrics: Metrics, add: (span: Span) => void): Metrics {
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

/** Where a span is: its trace and its own id, in hex. */
interface SpanContext {
  traceId: string;
  spanId: string;
}

/** A span that has ended, in the terms of OpenTelemetry. Times are milliseconds since 1970. */
export interface Span {
  name: string;
  kind: "internal" | "server" | "client";
  context: SpanContext;
  /** Id of the parent, in the same trace. */
  parent: string | null;
  /** Spans of other traces that belong together with this one. */
  links: readonly SpanContext[];
  start: number;
  end: number;
  attributes: Record<string, string | number>;
  failed: boolean;
}

export function newTrace(): SpanContext {
  return { traceId: randomBytes(16).toString("hex"), spanId: newSpanId() };
}

function newSpanId(): string {
  return randomBytes(8).toString("hex");
}

/** The root span of a request. It follows from the request's id, so every process knows it and nothing is stored. */
export function rootOf(requestId: string): SpanContext {
  return { traceId: requestId.slice(0, 32), spanId: requestId.slice(32, 48) };
}

/** @returns the caller's span from a W3C `traceparent` header; null when there is none, or an invalid one. */
export function parseTraceparent(header: string | undefined): (SpanContext & { sampled: boolean }) | null {
  const [, version, traceId, spanId, flags, rest] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(header ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  // Version ff is forbidden, version 00 has no more fields, and ids of zeros are invalid.
  if (version === "ff" || (version === "00" && rest !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, sampled: (parseInt(flags, 16) & 1) === 1 };
}
