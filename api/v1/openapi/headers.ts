/** A header that every answer has which names it in the document. */
function header(type: "string" | "integer", description: string, example: string | number) {
  return { required: true, description, schema: { type }, example };
}

export const RESPONSE_HEADERS = {
  "X-Request-Id": header(
    "string",
    "Id of the call in the service's log: the caller's own `X-Request-Id` when that is short and plain.",
    "1c9ad3f2-3a1b-4f44-8d9e-0a7d0a3d1f0e",
  ),
  RateLimit: header("string", "What is left (`r`) for how many seconds (`t`).", '"token";r=599;t=60'),
  "RateLimit-Policy": header("string", "Calls (`q`) that are free in so many seconds (`w`).", '"token";q=600;w=60'),
  "Retry-After": header("integer", "Seconds after which the call may be tried again.", 5),
  "WWW-Authenticate": header("string", "How to authenticate.", "Bearer"),
  ETag: header("string", "Tag of this content, for `If-None-Match`.", '"dGFn"'),
  "Accept-Ranges": header("string", "Parts may be asked for by `Range`.", "bytes"),
  "Content-Range": header("string", "Which bytes these are, of how many.", "bytes 0-99/1234"),
  "Cache-Control": header("string", "Whether, and for how long, others may keep a copy.", "public, max-age=300"),
};
export type ResponseHeader = keyof typeof RESPONSE_HEADERS;
/** Headers of every answer to a valid token. */
export const RATE_HEADERS = ["RateLimit", "RateLimit-Policy"] as const satisfies ResponseHeader[];

/** References to these headers, and to the one that every answer has. */
export function headerRefs(names: readonly ResponseHeader[] = []): Record<string, { $ref: string }> {
  const all = new Set<ResponseHeader>(["X-Request-Id", ...names]);
  return Object.fromEntries([...all].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

export const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "Makes the call safe to repeat: the same key with the same body gets the first answer again, and nothing happens twice. A new random value for each intent.",
  schema: { type: "string", pattern: "^[!-~]{1,255}$" },
  example: "7b0f3c52-6f0e-4d7e-9d0a-4f1f0f0f8a11",
} as const;
