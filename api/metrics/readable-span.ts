import { type SpanContext as OtelContext, SpanKind, SpanStatusCode, TraceFlags } from "@opentelemetry/api";
import { millisToHrTime } from "@opentelemetry/core";
import type { Resource } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";

import type { Span, SpanContext } from "./span.ts";

const KINDS = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

/** @returns a function that turns a span of the service into one of OpenTelemetry's library. */
export function toReadable(resource: Resource): (span: Span) => ReadableSpan {
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
