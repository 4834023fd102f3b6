import { getAddress, ZeroAddress } from "ethers";
import { z } from "zod";

import { MAX_QUANTITY, MAX_TOKEN_ID } from "../../domain/numbers.ts";
import { isRawNumber } from "../../shared/exact-json.ts";

/*
 * Shapes of what callers send. Each gives its code and its words for a wrong value; `meta` says for the published
 * document what the code checks in ways that a JSON schema cannot see.
 */

interface Checked {
  value: unknown;
  issues: z.core.$ZodRawIssue[];
}

/** Adds a refusal with a code of its own. @param path from the checked value to what is wrong in it. */
export function refuse(context: Checked, code: string, message: string, path: string[] = []): void {
  context.issues.push({ code: "custom", input: context.value, params: { code }, message, path });
}

/** A field that may be left out; null is the same. */
export function optional<S extends z.ZodType>(schema: S) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** Text of so many characters (code points, not halves of them). */
export function text(longest: number, shortest = 0) {
  return z
    .string()
    .check((context) => {
      const { value } = context;
      if (!value.isWellFormed() || value.includes("\0")) {
        refuse(context, "invalid_format", "Must be valid Unicode without NUL.");
      } else if (isLongerThan(value, longest)) {
        refuse(context, "too_long", `Must have at most ${longest.toString()} characters.`);
      } else if (value.length < shortest) {
        refuse(context, "too_short", "Must not be empty.");
      }
    })
    .meta({ maxLength: longest, ...(shortest > 0 ? { minLength: shortest } : {}) });
}

function isLongerThan(value: string, longest: number): boolean {
  if (value.length <= longest) return false;
  // A code point takes at most two units: no need to count what cannot fit.
  return value.length > 2 * longest || Array.from(value).length > longest;
}

/** Text of so many bytes of UTF-8. */
export function textOfBytes(most: number) {
  return z.string().check((context) => {
    if (!context.value.isWellFormed() || context.value.includes("\0")) {
      refuse(context, "invalid_format", "Must be valid Unicode without NUL.");
    } else if (Buffer.byteLength(context.value, "utf8") > most) {
      refuse(context, "too_long", `Must have at most ${most.toString()} bytes in UTF-8.`);
    }
  });
}

/** An address in any case; one in mixed case must have the right checksum. Read as EIP-55. */
export const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, "Must be an address: 0x and 40 hex digits.")
  .transform((value, context) => {
    try {
      return getAddress(value);
    } catch {
      refuse(context, "bad_checksum", "The checksum of the mixed-case address is wrong (EIP-55).");
      return z.NEVER;
    }
  });

/** An address that may receive something. */
export const destination = address.check((context) => {
  if (context.value === ZeroAddress) refuse(context, "zero_address", "Must not be the zero address.");
});

/** How the document describes the integers below. */
export function integerForms(minimum: number, maximum?: number) {
  return [
    { type: "integer" as const, minimum, ...(maximum === undefined ? {} : { maximum }) },
    { type: "string" as const, pattern: "^[0-9]{1,78}$" },
  ];
}

/** A JSON integer of any length, or a decimal string. */
function integer(least: bigint, most: bigint) {
  return z
    .unknown()
    .meta({
      anyOf: integerForms(Number(least), most <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(most) : undefined),
    })
    .transform((value, context) => {
      const exact = readInteger(value);
      if (exact === undefined) refuse(context, "required", "Must be given.");
      else if (exact === null) refuse(context, "wrong_type", "Must be an integer or a decimal string.");
      else if (exact < least) refuse(context, "too_small", `Must be at least ${least.toString()}.`);
      else if (exact > most) refuse(context, "too_big", `Must be at most ${most.toString()}.`);
      else return exact;
      return z.NEVER;
    });
}

/** @returns undefined when nothing was given, null when it is no integer. */
function readInteger(value: unknown): bigint | null | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : null;
  if (typeof value === "string") return /^[0-9]{1,78}$/.test(value) ? BigInt(value) : null;
  return isRawNumber(value) && /^-?[0-9]{1,400}$/.test(value.rawJSON) ? BigInt(value.rawJSON) : null;
}

export const tokenId = integer(0n, MAX_TOKEN_ID);
export const quantity = integer(1n, MAX_QUANTITY);

/** An integer that stays a JavaScript number. */
export function count(most: number) {
  return integer(0n, BigInt(most)).transform(Number);
}
