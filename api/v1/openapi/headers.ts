import { MAX_CURSOR_LENGTH } from "../../config/limits.ts";
import { writePosition } from "../schemas/events.ts";

/** A header that is always present where the document lists it. */
function header(type: "string" | "integer", description: string, example: string | number) {
  return { required: true, description, schema: { type }, example };
}

export const RESPONSE_HEADERS = {
  "X-Request-Id": header(
    "string",
    "Id of the call in the service's log. The caller's own `X-Request-Id` is kept when it has 1 to 128 letters, digits, dots, dashes or underscores.",
    "1c9ad3f2-3a1b-4f44-8d9e-0a7d0a3d1f0e",
  ),
  RateLimit: header(
    "string",
    'Calls left (`r`), and the seconds until the window ends (`t`). Batches also have the items left, after a comma: `"items";r=59000;t=60`.',
    '"app";r=599;t=60',
  ),
  "RateLimit-Policy": header("string", "Calls allowed (`q`) per window of seconds (`w`).", '"app";q=600;w=60'),
  "Retry-After": header("integer", "Seconds to wait before a retry.", 5),
  "WWW-Authenticate": header("string", "How to authenticate.", "Bearer"),
  "Moneta-As-Of-Block": header("integer", "The last block that was stored when the rows were read.", 21_000_000),
  ETag: header("string", "Tag of this version, for `If-None-Match`.", '"dGFn"'),
  "Accept-Ranges": header("string", "`Range` is supported.", "bytes"),
  "Content-Range": header("string", "The bytes in this answer, and the total size.", "bytes 0-99/1234"),
  "Cache-Control": header("string", "Whether and how long others may cache the answer.", "public, max-age=300"),
};
export type ResponseHeader = keyof typeof RESPONSE_HEADERS;
/** Headers of every answer to a call with a valid token. */
export const RATE_HEADERS = ["RateLimit", "RateLimit-Policy"] as const satisfies ResponseHeader[];

/** References to these headers, and to `X-Request-Id`, which every answer has. */
export function headerRefs(names: readonly ResponseHeader[] = []): Record<string, { $ref: string }> {
  const all = new Set<ResponseHeader>(["X-Request-Id", ...names]);
  return Object.fromEntries([...all].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

export const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "Makes the call safe to repeat: the same key with the same body gets the first answer again, and nothing happens twice. The body is compared as parsed JSON: white space, the order of keys and fields that are null or an empty text do not count. Use a new random value for each new call.",
  schema: { type: "string", pattern: "^[!-~]{1,255}$" },
  example: "7b0f3c52-6f0e-4d7e-9d0a-4f1f0f0f8a11",
} as const;

export const X_IDEMPOTENCY_KEY = {
  ...IDEMPOTENCY_KEY,
  name: "X-Idempotency-Key",
  description: "Another name for `Idempotency-Key`, which some clients send.",
} as const;

export const LAST_EVENT_ID = {
  name: "Last-Event-ID",
  in: "header",
  description:
    "For streams: the `id` of the last event that you have. The stream continues after it. It wins over `after`.",
  schema: { type: "string", maxLength: MAX_CURSOR_LENGTH },
  example: writePosition(7),
} as const;
