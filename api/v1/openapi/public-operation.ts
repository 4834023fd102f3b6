import type { z } from "zod";
import type { ZodOpenApiOperationObject } from "zod-openapi";

import type { HttpErrorCode } from "../../domain/error-codes.ts";
import { errorResponses } from "./errors.ts";
import { headerRefs, type ResponseHeader } from "./headers.ts";

/* What the operations that need no token have in common. */

/** Codes of each operation, for the responses that they share with others. */
export const PUBLIC_ERRORS = {
  metadata: ["not_found", "payload_too_large", "internal_error", "unavailable"],
  ipfs: ["not_found", "payload_too_large", "range_not_satisfiable", "internal_error", "unavailable"],
  options: ["not_found", "payload_too_large"],
  health: ["payload_too_large", "internal_error"],
  ready: ["payload_too_large", "internal_error", "unavailable"],
} as const satisfies Record<string, readonly HttpErrorCode[]>;

export type Parameter = ReturnType<typeof pathParameter>;

export function pathParameter(of: string, words: string, example: string) {
  return {
    in: "path" as const,
    name: of,
    required: true,
    description: words,
    schema: { type: "string" as const },
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
