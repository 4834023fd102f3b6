import { getAddress, ZeroAddress } from "ethers";
import { z } from "zod";

import { MAX_REFERENCE_LENGTH, MAX_USER_IDENTIFIER_LENGTH } from "../../config/limits.ts";
import { requiredField } from "../../domain/error-codes.ts";
import { MAX_QUANTITY, MAX_TOKEN_ID } from "../../domain/token.ts";
import { remember } from "../../shared/bounded-map.ts";
import { isRawNumber } from "../../../client/rules/exact-json.ts";
import { hasControls, isStorable } from "../../../client/rules/storable.ts";

/*
 * Schemas of inputs. Each has its own code and message for a wrong value. Where a check is code, `meta` describes it
 * for the published document, because a JSON schema cannot express it.
 */

interface Checked {
  value: unknown;
  issues: z.core.$ZodRawIssue[];
}

/** Adds a field error. @param path from the checked value to the wrong part of it. */
export function refuse(context: Checked, code: string, message: string, path: string[] = []): void {
  context.issues.push({ code: "custom", input: context.value, params: { code }, message, path });
}

/** An optional field. null counts as left out. */
export function optional<S extends z.ZodType>(schema: S) {
  return schema.nullish().transform((value) => value ?? undefined);
}

export function optionalFields<F extends Record<string, z.ZodType>>(fields: F) {
  const all = Object.entries(fields).map(([name, schema]) => [name, optional(schema)]);
  return Object.fromEntries(all) as { [K in keyof F]: ReturnType<typeof optional<F[K]>> };
}

/** Says what is wrong with text that is not `isStorable`. */
export const UNICODE = "Must be valid Unicode, without NUL characters or lone surrogates.";

/**
 * Text with a limited number of characters (code points, not UTF-16 units).
 * @param hint what to do with a text that is too long.
 */
export function text(longest: number, shortest = 0, hint: (value: string) => string = () => "") {
  return z
    .string()
    .check((context) => {
      const { value } = context;
      if (!isStorable(value)) {
        refuse(context, "invalid_format", UNICODE);
      } else if (isLongerThan(value, longest)) {
        refuse(context, "too_long", `Must have at most ${longest.toString()} characters.${hint(value)}`);
      } else if (value.length < shortest) {
        refuse(context, "too_short", "Must not be empty.");
      }
    })
    .meta({ maxLength: longest, ...(shortest > 0 ? { minLength: shortest } : {}) });
}

function isLongerThan(value: string, longest: number): boolean {
  if (value.length <= longest) return false;
  // A code point takes at most two units, so a text of more than twice the limit needs no count.
  return value.length > 2 * longest || Array.from(value).length > longest;
}

/** In a URL these mean another path, also when they are percent-encoded, so `/v1/accounts/user/..` would never arrive. */
const DOTS = new Set([".", ".."]);
const NOT_DOTS = "Must not be `.` or `..`, which have a meaning of their own in URLs.";

/** An app's own name for a user. */
export const userIdentifier = text(MAX_USER_IDENTIFIER_LENGTH, 1).check((context) => {
  if (DOTS.has(context.value)) refuse(context, "invalid_format", NOT_DOTS);
});

/** A user who gets a token, in place of an address. @param field of the address */
export function toUser(field: string) {
  return optional(userIdentifier).describe(
    `In place of ${field}: the app's own name for the user who gets the token. If the user has no wallet, the service creates it with the request, unless the name looks like an address, ends in \`.eth\` or has control characters: then it is refused. Needs the scope \`accounts\`, too.`,
  );
}

/** The app's own text for a request, in the body of each call that creates one. */
export const reference = optional(
  text(MAX_REFERENCE_LENGTH, 1).check((context) => {
    if (hasControls(context.value, "\t\n\r"))
      refuse(context, "invalid_format", "Must have no control characters but tabs and line breaks.");
  }),
).describe(
  "The app's own text for the request, such as the number of an order. No control characters but tabs and line breaks. The request and its events show it, and `GET /v1/requests?reference=` finds it. It need not be unique.",
);

/** Text with a limited number of bytes in UTF-8. */
export function textUpToBytes(most: number) {
  return z
    .string()
    .check((context) => {
      if (!isStorable(context.value)) {
        refuse(context, "invalid_format", UNICODE);
      } else if (Buffer.byteLength(context.value, "utf8") > most) {
        refuse(context, "too_long", `Must have at most ${most.toString()} bytes in UTF-8.`);
      }
    })
    .meta({ maxLength: most });
}

/** A checksum costs a hash, and apps send the same addresses again and again: their collections, their busy wallets. */
const toChecksumAddress = remember(4_096, getAddress);

/** An address in any case. A mixed-case address must have the right checksum. Read as EIP-55. */
export const address = z
  .string()
  .meta({ pattern: "^0x[0-9a-fA-F]{40}$" })
  .transform((value, context) => {
    if (!/^0x[0-9a-fA-F]{40}$/.test(value)) {
      refuse(context, "invalid_format", "Must be an address: 0x and 40 hex digits.");
      return z.NEVER;
    }
    try {
      return toChecksumAddress(value);
    } catch {
      refuse(context, "bad_checksum", "The EIP-55 checksum is wrong. Correct the address, or send it in lower case.");
      return z.NEVER;
    }
  });

/** The hash of a transaction, in any case. Read in lower case. */
export const transactionHash = z
  .string()
  .meta({ pattern: "^0x[0-9a-fA-F]{64}$" })
  .transform((value, context) => {
    if (/^0x[0-9a-fA-F]{64}$/.test(value)) return value.toLowerCase();
    refuse(context, "invalid_format", "Must be the hash of a transaction: 0x and 64 hex digits.");
    return z.NEVER;
  });

/** An address that may receive tokens, fees or ownership. */
export const destination = address.check((context) => {
  if (context.value === ZeroAddress) refuse(context, "zero_address", "Must not be the zero address.");
});

/** The document's description of the integers below. */
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
      if (exact === undefined) refuse(context, "required", requiredField("").message);
      else if (exact === null) refuse(context, "wrong_type", "Must be an integer or a decimal string.");
      else if (exact < least) refuse(context, "too_small", `Must be at least ${least.toString()}.`);
      else if (exact > most) refuse(context, "too_big", `Must be at most ${most.toString()}.`);
      else return exact;
      return z.NEVER;
    });
}

/** @returns undefined when the value is missing, null when it is not an integer. */
function readInteger(value: unknown): bigint | null | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : null;
  if (typeof value === "string") return /^[0-9]{1,78}$/.test(value) ? BigInt(value) : null;
  return isRawNumber(value) && /^-?[0-9]{1,400}$/.test(value.rawJSON) ? BigInt(value.rawJSON) : null;
}

export const tokenId = integer(0n, MAX_TOKEN_ID);
export const quantity = integer(1n, MAX_QUANTITY);

/** An integer that fits a JavaScript number. */
export function count(most: number, least = 0) {
  return integer(BigInt(least), BigInt(most)).transform(Number);
}
