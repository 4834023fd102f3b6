import { AsyncLocalStorage } from "node:async_hooks";

import {
  type Attributes,
  type Context,
  defaultTextMapGetter,
  diag,
  DiagLogLevel,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from "@opentelemetry/api";
import { type ExportResult, ExportResultCode, W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, resourceAttributesEnvDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  RandomIdGenerator,
  type ReadableSpan,
  type SpanExporter,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Logger } from "pino";

import type { Settings } from "../config/settings.ts";
import { inTime } from "../shared/pause.ts";
import type { Metrics, RequestChange } from "../shared/metrics.ts";

/** Most spans that wait for the collector. Later ones are dropped: traces must never use up the memory. */
const MOST_WAITING = 8_192;
/** Milliseconds between two messages while fewer spans than a message holds wait. */
const EVERY = 1_000;
/** Milliseconds that the collector gets for a message, further tries included. */
const TIMEOUT = 10_000;
/** Milliseconds that the last messages get when the service stops. */
const LAST_TIMEOUT = 2_000;
/** Most links of one span: more are of no use to a reader. */
const MOST_LINKS = 128;

/** Its headers may contain a secret, so they are never logged. */
type Collector = NonNullable<Settings["traces"]>;

/**
 * Turns what is measured into spans, and sends them to a collector by OTLP over HTTP. Each request has a trace of its own,
 * whose ids follow from the request's id, so the spans of all processes join. A batch is in the trace of its first request,
 * and linked to the others.
 * @param metrics gets everything too. @returns where to report, and what sends the last spans.
 */
export function traceTo(collector: Collector, metrics: Metrics, logger: Logger) {
  const ids = new RequestIds();
  const provider = openProvider(collector, ids, logger);
  const stop = () =>
    inTime(
      provider.shutdown().catch(() => undefined),
      LAST_TIMEOUT,
      () => undefined,
    );
  return { metrics: createTraced(metrics, new Spans(provider.getTracer("moneta"), ids)), stop };
}

/** Random ids, except for the root span of a request: the id of the request names it, so every process knows it. */
class RequestIds extends RandomIdGenerator {
  /** The ids of the next span; null: random ones. */
  next: SpanContext | null = null;

  override generateTraceId(): string {
    return this.next?.traceId ?? super.generateTraceId();
  }

  override generateSpanId(): string {
    return this.next?.spanId ?? super.generateSpanId();
  }
}

function openProvider({ endpoint, headers, serviceName }: Collector, idGenerator: RequestIds, logger: Logger) {
  // Warnings of the library, such as spans that it drops because too many wait. Its errors are failed messages, logged below.
  const nothing = () => undefined;
  const warn = (message: string) => {
    logger.warn(`traces: ${message}`);
  };
  const warnings = { error: nothing, warn, info: nothing, debug: nothing, verbose: nothing };
  diag.setLogger(warnings, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const sent = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers, timeoutMillis: TIMEOUT });
  const processor = new BatchSpanProcessor({
    exporter: new LoggingExporter(sent, logger),
    maxQueueSize: MOST_WAITING,
    scheduledDelayMillis: EVERY,
    exportTimeoutMillis: TIMEOUT,
  });
  const named = resourceFromAttributes({ "service.name": serviceName });
  const resource = detectResources({ detectors: [resourceAttributesEnvDetector] }).merge(named);
  return new TracerProvider({ resource, idGenerator, spanProcessors: [processor] });
}

/** Logs when spans begin to be lost and when that ends, not for each message. */
class LoggingExporter implements SpanExporter {
  readonly #inner: SpanExporter;
  readonly #logger: Logger;
  #lost = 0;

  constructor(inner: SpanExporter, logger: Logger) {
    this.#inner = inner;
    this.#logger = logger;
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#inner.export(spans, (result) => {
      if (result.code === ExportResultCode.SUCCESS) this.#delivered();
      else this.#failed(spans.length, result.error?.message);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#inner.shutdown();
  }

  /** @param reason does not contain the URL, which may have a key. */
  #failed(count: number, reason: string | undefined): void {
    const what = "traces cannot be delivered and are dropped: check OTEL_EXPORTER_OTLP_ENDPOINT and the collector";
    if (this.#lost === 0) this.#logger.warn({ reason }, what);
    this.#lost += count;
  }

  #delivered(): void {
    if (this.#lost > 0) this.#logger.info({ dropped: this.#lost }, "traces are delivered again");
    this.#lost = 0;
  }
}

/** The span in which the running code works. */
interface Active {
  span: Span;
  /** Milliseconds since 1970. */
  start: number;
  links: number;
}

interface Done {
  kind?: SpanKind;
  /** How long it took; it ends now. */
  seconds?: number;
  start?: number;
  attributes?: Attributes;
  links?: Link[];
  failed?: boolean;
}

class Spans {
  readonly active = new AsyncLocalStorage<Active>();
  readonly #propagator = new W3CTraceContextPropagator();
  readonly #tracer: Tracer;
  readonly #ids: RequestIds;

  constructor(tracer: Tracer, ids: RequestIds) {
    this.#tracer = tracer;
    this.#ids = ids;
  }

  /** Serves an HTTP call, in the trace of its caller. */
  serve(traceparent: string | undefined, next: () => void): Active {
    const caller = this.#propagator.extract(ROOT_CONTEXT, { traceparent }, defaultTextMapGetter);
    const span = this.#tracer.startSpan("HTTP", { kind: SpanKind.SERVER }, caller);
    const call = { span, start: Date.now(), links: 0 };
    this.active.run(call, next);
    return call;
  }

  /** Does a step of the pipeline: in the step around it, or in the trace of the first of its requests. */
  async step<T>(name: string, requestIds: readonly string[], work: () => Promise<T>): Promise<T> {
    const roots = requestIds.map(rootOf);
    const around = this.active.getStore()?.span.spanContext() ?? roots.shift();
    const links = roots.slice(0, MOST_LINKS).map((context) => ({ context }));
    const span = this.#tracer.startSpan(name, { links }, around === undefined ? ROOT_CONTEXT : within(around));
    try {
      return await this.active.run({ span, start: Date.now(), links: links.length }, work);
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  }

  /** A span that ends now, as a child of `parent`. */
  done(name: string, parent: SpanContext, done: Done): void {
    this.#done(name, within(parent), done);
  }

  /** The span of a whole request. */
  request(name: string, root: SpanContext, done: Done): void {
    this.#ids.next = root;
    try {
      this.#done(name, ROOT_CONTEXT, done);
    } finally {
      this.#ids.next = null;
    }
  }

  #done(name: string, context: Context, { seconds = 0, failed = false, start, ...options }: Done): void {
    const end = Date.now();
    // A clock that was set back must not let a span end before its start.
    const startTime = Math.min(end, start ?? end - seconds * 1_000);
    const span = this.#tracer.startSpan(name, { ...options, startTime }, context);
    if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(end);
  }
}

function createTraced(metrics: Metrics, spans: Spans): Metrics {
  return {
    ...metrics,
    requests: (changes) => {
      metrics.requests(changes);
      for (const change of changes) traceChange(change, spans);
    },
    rpc: (method, outcome, seconds) => {
      metrics.rpc(method, outcome, seconds);
      const parent = spans.active.getStore()?.span;
      const attributes = { "rpc.system": "jsonrpc", "rpc.method": method, "moneta.outcome": outcome };
      const failed = !["ok", "error"].includes(outcome);
      // A call outside of every step, such as the indexer's next look for blocks, would be a trace of one span.
      if (parent === undefined) return;
      spans.done(`rpc ${method}`, parent.spanContext(), { kind: SpanKind.CLIENT, seconds, attributes, failed });
    },
    webhook: (outcome, seconds, event) => {
      metrics.webhook(outcome, seconds, event);
      const { request_id: id } = JSON.parse(event) as { request_id?: unknown };
      const attributes = { "moneta.outcome": outcome };
      const failed = outcome !== "delivered";
      // Not every event is about a request.
      if (typeof id !== "string" || !/^[0-9a-f]{64}$/.test(id)) return;
      spans.done("webhook", rootOf(id), { kind: SpanKind.CLIENT, seconds, attributes, failed });
    },
    media: (outcome, seconds, requestId) => {
      metrics.media(outcome, seconds, requestId);
      const attributes = { "moneta.outcome": outcome };
      spans.done("media", rootOf(requestId), { seconds, attributes, failed: outcome !== "copied" });
    },
    http: (answer) => {
      metrics.http(answer);
      const { trace: call, method, route, status } = answer;
      if (call === null) return;
      const { span } = call as Active;
      span.updateName(`${method} ${route}`).setAttributes({ "http.request.method": method, "http.route": route });
      if (status === "aborted") span.setAttribute("error.type", status);
      else span.setAttribute("http.response.status_code", status);
      if (status === "aborted" || status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
    serving: (traceparent, next) => spans.serve(traceparent, next),
    step: (name, requestIds, work) => spans.step(name, requestIds, work),
  };
}

function traceChange(change: RequestChange, spans: Spans): void {
  const { id, type, status, errorCode, seconds, stepSeconds = 0 } = change;
  const root = rootOf(id);
  const active = spans.active.getStore();
  const links = active === undefined ? [] : [{ context: active.span.spanContext() }];
  if (status === "pending") {
    if (active !== undefined && active.links++ < MOST_LINKS) active.span.addLink({ context: root });
    spans.done("accept", root, active === undefined ? {} : { start: active.start, links });
  } else if (status === "processing") {
    spans.done("send", root, { seconds, links });
  } else {
    spans.done("settle", root, { seconds: stepSeconds });
    const attributes = {
      "moneta.request_id": id,
      "moneta.request_type": type,
      "moneta.status": status,
      ...(errorCode !== null && { "moneta.error_code": errorCode }),
    };
    spans.request(`request ${type}`, root, { seconds, attributes, failed: status === "failed" });
  }
}

function within(parent: SpanContext): Context {
  return trace.setSpanContext(ROOT_CONTEXT, parent);
}

/** The root span of a request. It follows from the request's id, so every process knows it and nothing is stored. */
export function rootOf(requestId: string): SpanContext {
  return { traceId: requestId.slice(0, 32), spanId: requestId.slice(32, 48), traceFlags: TraceFlags.SAMPLED };
}
