import type { z } from "zod";
import type { ZodOpenApiOperationObject } from "zod-openapi";

import type { HttpErrorCode } from "../../domain/error-codes.ts";
import { errorResponses } from "./errors.ts";
import { headerRefs, type ResponseHeader } from "./headers.ts";

/* Shared parts of the operations that need no token. */

/** Error codes of each operation, for the responses that operations share. */
export const PUBLIC_ERRORS = {
  metadata: ["not_found", "payload_too_large", "internal_error", "unavailable"],
  ipfs: ["not_found", "payload_too_large", "range_not_satisfiable", "internal_error", "unavailable"],
  options: ["not_found", "payload_too_large"],
  health: ["payload_too_large", "internal_error"],
  ready: ["payload_too_large", "internal_error", "unavailable"],
} as const satisfies Record<string, readonly HttpErrorCode[]>;

export type Parameter = ReturnType<typeof pathParameter>;

/** @param form of the values that exist. Any other value is not found. */
export function pathParameter(
  of: string,
  words: string,
  example: string,
  form: { pattern: string } | { maxLength: number },
) {
  return {
    in: "path" as const,
    name: of,
    required: true,
    description: words,
    schema: { type: "string" as const, ...form },
    example,
  };
}

export function operation(
  operationId: string,
  summary: string,
  errors: readonly HttpErrorCode[],
  content: { schema: z.ZodType; example: unknown } | null,
  headers: ResponseHeader[] = [],
): ZodOpenApiOperationObject {
  const success =
    content === null
      ? { "204": { description: "Success.", headers: headerRefs() } }
      : {
          "200": {
            description: "Success.",
            headers: headerRefs(headers),
            content: { "application/json": content },
          },
        };
  return { operationId, tags: ["Public"], summary, security: [], responses: { ...success, ...errorResponses(errors) } };
}

/** An operation that answers a page. */
export function htmlOperation(
  operationId: string,
  tag: string,
  summary: string,
  description?: string,
): ZodOpenApiOperationObject {
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    security: [],
    responses: {
      "200": {
        description: "Success.",
        headers: headerRefs(),
        content: { "text/html": { schema: { type: "string" } } },
      },
      "308": { description: "From the same path with a slash at its end." },
      ...errorResponses(PUBLIC_ERRORS.health),
    },
  };
}
