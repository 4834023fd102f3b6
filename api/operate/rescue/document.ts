import { endOfString, parseExact } from "../../../client/rules/exact-json.ts";
import { faultOf } from "../../../client/rules/storable.ts";
import { MAX_JSON_DEPTH, MAX_METADATA_BYTES } from "../../config/limits.ts";

/** A document of metadata, whose fields may be anything. */
export type Document = Record<string, unknown>;

const FAULTS = {
  depth: `It is nested more than ${MAX_JSON_DEPTH.toString()} levels deep.`,
  text: "It has a text with NUL or with half a character.",
  number: "It has a number that is too long.",
} as const;

/** @returns the document, and its text; why the bytes cannot be served as metadata, when they cannot. */
export function parseDocument(bytes: Uint8Array): { document: Document; text: string } | string {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    value = parseExact(text);
  } catch (error) {
    // Not UTF-8; not JSON; nested so deep that the parser gives up.
    if (!(error instanceof TypeError || error instanceof SyntaxError || error instanceof RangeError)) throw error;
    return "It is not JSON.";
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "It is not a JSON object.";
  const fault = faultOf(value, MAX_JSON_DEPTH);
  return fault === null ? { document: value as Document, text } : FAULTS[fault];
}

/**
 * Replaces texts that are values of the outermost object. Everything else keeps its characters, also numbers that would be rounded.
 * @returns null when the result is too large to be served.
 */
export function withTexts(text: string, values: ReadonlyMap<string, string>): string | null {
  const parts: string[] = [];
  let [copied, depth] = [0, 0];
  let key: string | null = null;
  for (let at = 0; at < text.length; at++) {
    const code = text.charAt(at);
    if (code === "{" || code === "[") depth += 1;
    else if (code === "}" || code === "]") depth -= 1;
    if (code !== '"') continue;
    const end = endOfString(text, at) + 1;
    const isKey = /\s*:/y;
    isKey.lastIndex = end;
    if (depth === 1 && isKey.test(text)) key = JSON.parse(text.slice(at, end)) as string;
    else if (depth === 1 && key !== null && values.has(key)) {
      parts.push(text.slice(copied, at), JSON.stringify(values.get(key)));
      copied = end;
    }
    at = end - 1;
  }
  const json = parts.join("") + text.slice(copied);
  return Buffer.byteLength(json) > MAX_METADATA_BYTES ? null : json;
}

/** The text of a field, when it has one. */
export function textIn(document: Document | null, field: string): string | null {
  const value = document !== null && Object.hasOwn(document, field) ? document[field] : null;
  return typeof value === "string" && value.trim() !== "" ? value : null;
}
