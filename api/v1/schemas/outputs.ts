import { z } from "zod";

import { HTTP_ERRORS, REQUEST_FAILURES } from "../../domain/error-codes.ts";
import { ERROR_WORDS } from "../../domain/error-words.ts";

/* Shapes of what the service answers. They only describe: nothing is changed on the way out. */

export const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .meta({ id: "Address", description: "Address in EIP-55 checksum form." });
export const time = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
  .meta({ id: "Time", description: "Time in UTC, ISO 8601.", format: "date-time" });
export const collectionType = z.enum(["ERC721", "ERC1155"]).meta({ id: "CollectionType" });
export const hosting = z.enum(["hosted", "self-hosted"]).meta({ id: "Hosting" });
export const integer = z
  .union([z.int().nonnegative(), z.string().regex(/^[0-9]+$/)])
  .meta({ id: "Integer", description: "An integer up to 2^53-1; a decimal string above that." });

export const requestId = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ id: "RequestId", description: "Id of a request: 64 hex digits." });
export const transactionHash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/)
  .meta({ id: "TransactionHash" });

/** `{request_id}`: what every accepted request is answered. */
export const accepted = z.object({ request_id: requestId }).meta({ id: "Accepted" });

export const fieldErrors = z
  .array(z.object({ field: z.string(), code: z.string(), message: z.string() }))
  .nullable()
  .meta({ id: "FieldErrors", description: "What is wrong with which field; null when no field is." });

/** The body of every error. */
export const errorBody = z.object({
  error_code: z.enum(Object.keys(HTTP_ERRORS) as (keyof typeof HTTP_ERRORS)[]),
  errors: fieldErrors,
});

export const requestFailure = z.enum(REQUEST_FAILURES).meta({
  id: "RequestFailure",
  description: REQUEST_FAILURES.map((code) => `- \`${code}\`: ${ERROR_WORDS[code]}`).join("\n"),
});
