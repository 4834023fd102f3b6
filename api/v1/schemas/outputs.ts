import { z } from "zod";

import { ERRORS, REQUEST_FAILURES } from "../../domain/error-codes.ts";
import { WARNING_CODES, WARNINGS } from "../../../client/rules/warnings.ts";

/* Schemas of answers, for the published document. They change no value. */

export const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .meta({ id: "Address", description: "Address in EIP-55 checksum form." });
export const watchOnly = z
  .boolean()
  .describe(
    "true: an address of the user whose key is not at the service. Its tokens, history and events are shown, and it cannot send or burn tokens.",
  );
export const time = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
  .meta({ id: "Time", description: "Time in UTC, ISO 8601.", format: "date-time" });
export const collectionType = z
  .enum(["ERC721", "ERC1155"])
  .meta({ id: "CollectionType", description: "Kind of the contract." });
export const hosting = z
  .enum(["hosted", "self-hosted"])
  .meta({ id: "Hosting", description: "hosted: the service serves the metadata. self-hosted: the app does." });
export const integer = z
  .union([z.int().nonnegative(), z.string().regex(/^[0-9]+$/)])
  .meta({ id: "Integer", description: "A JSON integer up to 2^53-1, a decimal string above that." });

/** The words of an enumeration with what each means, for its description. */
export function meanings(words: Readonly<Record<string, string>>): string {
  return Object.entries(words)
    .map(([word, meaning]) => `${word}: ${meaning}`)
    .join(" ");
}

/** Whether what an item shows is settled. @param change what may still be undone. */
export function isFinal(change: string) {
  return z
    .boolean()
    .describe(`true when the block of ${change} is final. false: it is in a block that a reorg can still drop.`);
}

export const wei = z
  .string()
  .regex(/^[0-9]+$/)
  .meta({ id: "Wei", description: "An amount in wei, as a decimal string." });
export const day = z.iso.date().meta({ id: "Day", description: "A day in UTC, such as `2026-05-04`." });

export const requestId = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ id: "RequestId", description: "Request id: 64 hex digits." });
export const transactionHash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/)
  .meta({ id: "TransactionHash", description: "Hash of a transaction." });

/** Beside the id of an accepted request. */
export const warnings = z
  .array(
    z.object({
      field: z.string().describe("Name of the field."),
      code: z
        .enum(WARNING_CODES)
        .describe(
          `${WARNING_CODES.map((code) => `- \`${code}\`: ${WARNINGS[code]}`).join("\n")}\n\nLater versions may have more codes.`,
        ),
      message: z.string().describe("What will happen, and what to send instead."),
    }),
  )
  .meta({
    id: "Warnings",
    description: "The call was accepted, and probably does not do what was meant. Absent when there is nothing to say.",
  });

/** The answer to every accepted request. */
export const accepted = z.object({ request_id: requestId, warnings: warnings.optional() }).meta({ id: "Accepted" });

export const fieldErrors = z
  .array(
    z.object({
      field: z.string().describe("Name of the field, or its place, such as `attributes.0.value`."),
      code: z.string().describe("What is wrong, as a word for programs."),
      message: z.string().describe("What is wrong, and what to do."),
    }),
  )
  .nullable()
  .meta({ id: "FieldErrors", description: "What is wrong with each field. null when the error is about no field." });

export const requestFailure = z.enum(REQUEST_FAILURES).meta({
  id: "RequestFailure",
  description: REQUEST_FAILURES.map((code) => `- \`${code}\`: ${ERRORS[code].message}`).join("\n"),
});
