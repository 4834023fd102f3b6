/** Headers of answers that a client may act on. */
export const RESPONSE_HEADERS = {
  "X-Request-Id": {
    description: "Id of the call in the service's log: the caller's own `X-Request-Id` when that is short and plain.",
    schema: { type: "string" },
  },
  "Retry-After": { description: "Seconds after which the call may be tried again.", schema: { type: "integer" } },
  "WWW-Authenticate": { description: "`Bearer`.", schema: { type: "string" } },
  ETag: { description: "Tag of this content, for `If-None-Match`.", schema: { type: "string" } },
  "Cache-Control": { description: "Whether, and for how long, others may keep a copy.", schema: { type: "string" } },
} as const;
export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

/** References to these headers, and to those that every answer has. */
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
