import { getAddress } from "ethers";
import { z } from "zod";

import { valuesOf } from "../../../client/bulk.ts";
import { DEFAULT_LIMITS, type Limits, MAX_ATTRIBUTE_DEPTH, MAX_JSON_VALUES } from "../../config/limits.ts";
import type { MetadataField, TokenMetadata } from "../../domain/command.ts";
import { MAX_QUANTITY, MAX_TOKEN_ID } from "../../domain/token.ts";
import { faultOf, isStorable, NUMBERS } from "../../shared/storable.ts";

/* Checks of the metadata before anything is sent. The service checks again, and has the last word. */

const UNICODE = "Must be valid Unicode, without NUL characters.";
/** Leaves room for the other fields of a mint. */
const MOST_VALUES = MAX_JSON_VALUES - 100;
const TOO_MANY = `Must have at most ${MOST_VALUES.toString()} JSON values.`;
/** What keeps attributes from being stored. */
const FAULTS = {
  depth: `Must be nested at most ${MAX_ATTRIBUTE_DEPTH.toString()} levels deep.`,
  text: `Keys and texts: ${UNICODE}`,
  number: NUMBERS,
};

function text(longest: number) {
  return z
    .string()
    .refine(isStorable, UNICODE)
    .refine((value) => Array.from(value).length <= longest, `Must have at most ${longest.toString()} characters.`);
}

function uri(longest: number, schemes: string) {
  return text(longest).refine(
    (value) => new RegExp(`^(${schemes}):`, "i").test(value),
    `Must be a URI with one of the schemes ${schemes.replaceAll("|", ", ")}.`,
  );
}

function schemaOf(limits: Limits) {
  const link = uri(limits.uri, "http|https|ipfs|ar");
  const field = <S extends z.ZodType>(schema: S) => schema.nullish().transform((value) => value ?? undefined);
  return z.object({
    name: field(text(limits.name)),
    description: field(text(limits.description)),
    // A URI, or the name of a file.
    image: field(text(limits.uri)),
    animation_url: field(text(limits.uri)),
    external_url: field(link),
    youtube_url: field(link),
    background_color: field(text(limits.symbol)),
    attributes: field(
      z
        .array(z.unknown())
        .max(limits.attributes, `Must have at most ${limits.attributes.toString()} entries.`)
        .superRefine((value, context) => {
          const fault = faultOf(value, MAX_ATTRIBUTE_DEPTH);
          if (fault !== null) context.addIssue({ code: "custom", message: FAULTS[fault] });
        })
        .refine((value) => valuesOf(value) <= MOST_VALUES, TOO_MANY),
    ),
  } satisfies Partial<Record<MetadataField, z.ZodType>>);
}

const schema = schemaOf(DEFAULT_LIMITS);

interface CheckedMetadata {
  metadata: TokenMetadata;
  problems: string[];
  ignored: string[];
}

/** Reads the metadata of a token in the form of ERC-721. */
export function checkMetadata(value: unknown): CheckedMetadata {
  const checked = schema.safeParse(value);
  if (!checked.success) {
    const problems = checked.error.issues.map(({ path, message }) => {
      const field = path.join(".");
      return field === "" ? "The file must hold one JSON object." : `${field}: ${message}`;
    });
    return { metadata: {}, problems, ignored: [] };
  }
  const known = Object.entries(checked.data).filter(([, content]) => content !== undefined);
  const ignored = Object.keys(value as object).filter((name) => !(name in schema.shape));
  return { metadata: Object.fromEntries(known), problems: [], ignored };
}

/** Who gets a token: an address, or a user of the app. */
export type Owner = { address: string } | { user: string };

/** An owner in the table: an address, or else a user identifier. @returns what is wrong with it, as a text. */
export function readOwner(value: string): Owner | string {
  if (!/^0x/i.test(value)) {
    const wrong = faultOfText(value, DEFAULT_LIMITS.userIdentifier);
    return wrong ?? { user: value };
  }
  try {
    if (/^0x[0-9a-fA-F]{40}$/.test(value)) return { address: getAddress(value) };
  } catch {
    return "The checksum is wrong. Correct the address, or write it in lower case.";
  }
  return "Must be an address (0x and 40 hex digits) or a user identifier.";
}

export function faultOfText(value: string, longest: number): string | null {
  const checked = text(longest).safeParse(value);
  return checked.success ? null : (checked.error.issues[0]?.message ?? "Is not valid.");
}

/** @returns the integer without leading zeros, or null when it is not an integer of the range. */
export function readTokenId(value: string): string | null {
  return readInteger(value, 0n, MAX_TOKEN_ID);
}

/** As `readTokenId`. */
export function readSupply(value: string): string | null {
  return readInteger(value, 1n, MAX_QUANTITY);
}

function readInteger(value: string, least: bigint, most: bigint): string | null {
  if (!/^[0-9]{1,78}$/.test(value)) return null;
  const integer = BigInt(value);
  return integer >= least && integer <= most ? integer.toString() : null;
}
