import { z } from "zod";

import { HTTP_ERRORS, REQUEST_FAILURES } from "../../domain/error-codes.ts";

/* Shapes of what the service answers. They only describe: nothing is changed on the way out. */

export const address = z.string().meta({ description: "Address in EIP-55 checksum form." });
export const time = z.iso.datetime().meta({ description: "Time in UTC, ISO 8601." });
export const collectionType = z.enum(["ERC721", "ERC1155"]);
export const hosting = z.enum(["hosted", "self-hosted"]);
export const integer = z
  .union([z.int(), z.string().regex(/^[0-9]+$/)])
  .meta({ description: "An integer up to 2^53-1; a decimal string above that." });

export const requestId = z.string().regex(/^[0-9a-f]{64}$/);

/** `{request_id}`: what every accepted request is answered. */
export const accepted = z.object({ request_id: requestId });

export const fieldErrors = z.array(z.object({ field: z.string(), code: z.string(), message: z.string() })).nullable();

/** The body of every error. */
export const errorBody = z.object({
  error_code: z.enum(Object.keys(HTTP_ERRORS) as (keyof typeof HTTP_ERRORS)[]),
  errors: fieldErrors,
});

export const requestFailure = z.enum(REQUEST_FAILURES);
