import { randomBytes } from "node:crypto";

/** Where a span is: its trace and its own id, in hex. */
export interface SpanContext {
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

export function newSpanId(): string {
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
