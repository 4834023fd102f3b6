import { valuesOf } from "../bulk.ts";
import { isRawNumber } from "../rules/exact-json.ts";
import { faultOf, isStorable, NUMBERS } from "../rules/storable.ts";

/* Checks of what a folder says, before anything is sent. The service checks again, and has the last word. */

/** The default limits of the service. */
export const LIMITS = {
  name: 256,
  description: 10_000,
  symbol: 32,
  uri: 2_048,
  attributes: 200,
  userIdentifier: 256,
  reference: 256,
  unlockableBytes: 65_536,
  mediaBytes: 104_857_600,
  metadataBytes: 65_536,
  attributeDepth: 16,
  /** Values in a body, without room for the other fields of a mint. */
  values: 199_900,
} as const;
const MAX_TOKEN_ID = 2n ** 256n - 1n;
const MAX_QUANTITY = 2n ** 128n - 1n;

/** Fields of the metadata that hold a file or a URI. */
export const MEDIA = ["image", "animation_url"] as const;
export type MediaField = (typeof MEDIA)[number];
/** Metadata as a mint takes it. A table has all of them as texts. */
export type Metadata = { [Name in Exclude<MetadataField, keyof OtherMetadata>]?: string } & OtherMetadata;
interface OtherMetadata {
  attributes?: unknown[];
  properties?: Record<string, unknown>;
  localization?: Record<string, unknown>;
  decimals?: number;
}

const FIELDS = {
  name: (value: unknown) => faultOfText(value, LIMITS.name),
  description: (value: unknown) => faultOfText(value, LIMITS.description),
  image: (value: unknown) => faultOfText(value, LIMITS.uri),
  animation_url: (value: unknown) => faultOfText(value, LIMITS.uri),
  external_url: faultOfLink,
  youtube_url: faultOfLink,
  background_color: faultOfColor,
  attributes: faultOfAttributes,
  image_data: (value: unknown) => faultOfText(value, LIMITS.metadataBytes),
  properties: faultOfObject,
  localization: faultOfObject,
  decimals: (value: unknown) =>
    Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 255 ? null : "Must be an integer from 0 to 255.",
};
type MetadataField = keyof typeof FIELDS;
export const METADATA = Object.keys(FIELDS) as MetadataField[];
/** Fields that version 0.3.0 left out. */
export const NEW_METADATA: readonly string[] = ["image_data", "properties", "localization", "decimals"];
/** The fields that a table takes as columns, beside those of attributes. */
export const TEXT_METADATA = METADATA.filter(
  (field) => !["attributes", "properties", "localization", "decimals"].includes(field),
);
/** An empty text in them is as if the field were left out. The service leaves out other empty texts. */
const NEVER_EMPTY: readonly string[] = ["image", "animation_url", "external_url", "youtube_url"];

interface CheckedMetadata {
  metadata: Metadata;
  problems: { field: string | null; message: string }[];
  ignored: string[];
}

/** Reads the metadata of a token in the form of ERC-721. */
export function checkMetadata(value: unknown): CheckedMetadata {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const message = `The file must hold one JSON object, but it holds ${kindOf(value)}.`;
    return { metadata: {}, problems: [{ field: null, message }], ignored: [] };
  }
  const checked: CheckedMetadata = { metadata: {}, problems: [], ignored: [] };
  for (const [field, content] of Object.entries(value)) {
    if (!(field in FIELDS)) checked.ignored.push(field);
    else if (content !== null && !(content === "" && NEVER_EMPTY.includes(field))) {
      const message = FIELDS[field as MetadataField](content);
      if (message !== null) checked.problems.push({ field, message });
      Object.assign(checked.metadata, { [field]: content as unknown });
    }
  }
  return checked;
}

export function faultOfText(value: unknown, longest: number): string | null {
  if (typeof value !== "string") return `Must be a text, but it is ${kindOf(value)}.`;
  if (!isStorable(value)) return "Must be valid Unicode, without NUL characters.";
  return Array.from(value).length > longest ? `Must have at most ${longest.toString()} characters.` : null;
}

export function faultOfUnlockable(value: string): string | null {
  const bytes = new TextEncoder().encode(value).length;
  const most = LIMITS.unlockableBytes;
  return bytes > most ? `Must have at most ${most.toString()} bytes.` : faultOfText(value, most);
}

export function isUri(text: string): boolean {
  return /^(https?|ipfs|ar|data):/i.test(text);
}

export function faultOfUri(value: string): string | null {
  const other = "Must be a URI with one of the schemes http, https, ipfs, ar, data.";
  return faultOfText(value, LIMITS.uri) ?? (isUri(value) ? null : other);
}

function faultOfLink(value: unknown): string | null {
  const fault = faultOfText(value, LIMITS.uri);
  if (fault !== null || /^(https?|ipfs|ar):/i.test(value as string)) return fault;
  return `Must be a URI with one of the schemes http, https, ipfs, ar, such as https://shop.example. It is "${shortened(value as string)}".`;
}

function faultOfColor(value: unknown): string | null {
  const fault = faultOfText(value, LIMITS.symbol);
  if (fault !== null || value === "" || /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.test(value as string)) return fault;
  return `Must be a colour of six hexadecimal digits, such as ff0000. It is "${shortened(value as string)}".`;
}

function faultOfObject(value: unknown): string | null {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value);
  return isObject ? faultOfJsonValue(value) : `Must be an object, but it is ${kindOf(value)}.`;
}

function faultOfAttributes(value: unknown): string | null {
  if (!Array.isArray(value)) {
    return `Must be a list such as [{"trait_type": "Fur", "value": "red"}], but it is ${kindOf(value)}.`;
  }
  if (value.length > LIMITS.attributes) return `Must have at most ${LIMITS.attributes.toString()} entries.`;
  return faultOfJsonValue(value);
}

function faultOfJsonValue(value: object): string | null {
  switch (faultOf(value, LIMITS.attributeDepth)) {
    case "depth":
      return `Must be nested at most ${LIMITS.attributeDepth.toString()} levels deep.`;
    case "text":
      return "Keys and texts: Must be valid Unicode, without NUL characters.";
    case "number":
      return NUMBERS;
    case null:
      return valuesOf(value) > LIMITS.values ? `Must have at most ${LIMITS.values.toString()} JSON values.` : null;
  }
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number" || isRawNumber(value)) return "a number";
  if (typeof value === "string") return "a text";
  return typeof value === "boolean" ? "true or false" : "an object";
}

export function shortened(text: string): string {
  const chars = Array.from(text);
  return chars.length <= 60 ? text : `${chars.slice(0, 60).join("")}...`;
}

/** @returns the integer without leading zeros, or null when it is not an integer of the range. */
export function readTokenId(value: string): string | null {
  return readInteger(value, 0n, MAX_TOKEN_ID);
}

/** As `readTokenId`. */
export function readSupply(value: string): string | null {
  return readInteger(value, 1n, MAX_QUANTITY);
}

/** ERC-1155 names files by ids of 64 hex digits. */
export function idOfName(stem: string): string | null {
  return /^[0-9a-f]{64}$/i.test(stem) ? BigInt(`0x${stem}`).toString() : readTokenId(stem);
}

function readInteger(value: string, least: bigint, most: bigint): string | null {
  if (!/^[0-9]{1,78}$/.test(value)) return null;
  const integer = BigInt(value);
  return integer >= least && integer <= most ? integer.toString() : null;
}

/** Spreadsheets write `1.2E+77`, `1,000` and `3.0`; contracts show hex digits. @param range what the integer must be */
export function faultOfInteger(value: string, range: string): string {
  if (/^0x[0-9a-f]{1,64}$/i.test(value))
    return `Must be an integer ${range}, in decimal digits: write ${BigInt(value).toString()} for ${value}.`;
  const isChanged = /^[+-]?[0-9][0-9.,'\s]*(?:e[+-]?[0-9]+)?$/i.test(value) && !/^[+-]?[0-9]+$/.test(value);
  const why = ` "${shortened(value)}" is how a spreadsheet shows a number: there, give the column the format "text", and write all digits.`;
  return `Must be an integer ${range}.${isChanged ? why : ""}`;
}
