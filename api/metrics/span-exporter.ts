import { setTimeout as wait } from "node:timers/promises";

import { diag, DiagLogLevel, type DiagLogger } from "@opentelemetry/api";
import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, resourceAttributesEnvDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter as Exporter } from "@opentelemetry/sdk-trace";
import type { Logger } from "pino";

import { toReadable } from "./readable-span.ts";
import type { Span } from "./span.ts";

/** Most spans that wait for the collector. Later ones are dropped: traces must never use up the memory. */
const MOST_WAITING = 8_192;
/** Milliseconds between two messages while fewer spans than a message holds wait. */
const EVERY = 1_000;
/** Milliseconds that the collector gets for a message, further tries included. */
const TIMEOUT = 10_000;
/** Milliseconds that the last messages get when the service stops. */
const LAST_TIMEOUT = 2_000;

export interface Collector {
  /** Base URL; `/v1/traces` is appended. */
  endpoint: string;
  /** Headers of each message. They may contain a secret, so they are never logged. */
  headers: Record<string, string>;
  serviceName: string;
}

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
    const waiting = new AbortController();
    const sent = this.#processor.shutdown().catch(() => undefined);
    const late = wait(LAST_TIMEOUT, undefined, { signal: waiting.signal }).catch(() => undefined);
    await Promise.race([sent, late]);
    waiting.abort();
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
