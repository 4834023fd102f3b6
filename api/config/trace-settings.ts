import { z } from "zod";

import { publicUrl } from "./parsers.ts";

/** Standard variables of OpenTelemetry, included in `variables.ts`. */
export const TRACE_VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    schema: publicUrl,
    fallback: "none",
    description:
      "URL of an OpenTelemetry collector (`http://127.0.0.1:4318`). Traces are sent to `/v1/traces` below it, by OTLP over HTTP in JSON. Without this setting nothing is traced.",
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    schema: z.string().transform((text, context) => {
      try {
        return Object.fromEntries(new Headers(text.split(",").map(pairOf)));
      } catch {
        // The text is never part of a message: it may contain a key.
        context.addIssue({ code: "custom", message: "must be name=value pairs, separated by commas" });
        return z.NEVER;
      }
    }),
    fallback: "none",
    description:
      "Headers for the collector, as `name=value` pairs separated by commas. Special characters of a value are written as `%XX`.",
  },
  OTEL_SERVICE_NAME: { schema: z.string(), fallback: "moneta", description: "Name of this service in traces." },
} as const;

/** Where traces are sent. */
export interface TraceSettings {
  endpoint: string;
  headers: Record<string, string>;
  serviceName: string;
}

/** @throws Error when it is no pair */
function pairOf(text: string): [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw new Error("no name");
  return [text.slice(0, at).trim(), decodeURIComponent(text.slice(at + 1).trim())];
}

/** @returns null when nothing is traced. */
export function traceSettings(read: {
  endpoint: string | null;
  headers: Record<string, string> | null;
  serviceName: string;
}): TraceSettings | null {
  const { endpoint, headers, serviceName } = read;
  return endpoint === null ? null : { endpoint, headers: headers ?? {}, serviceName };
}
