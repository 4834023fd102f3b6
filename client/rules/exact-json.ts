import { randomKey } from "./random-key.ts";

/*
 * JSON without rounding. A number that JavaScript cannot represent exactly, such as an integer above 2^53-1, is parsed
 * into a raw value: an object that keeps the digits. `JSON.stringify` writes them back unchanged.
 */

/** A number that keeps the digits of the JSON text. */
interface RawNumber {
  readonly rawJSON: string;
}

// Part of ECMAScript 2026. TypeScript has no types for it yet.
interface ExactJson {
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
}
/** Node 20 and older browsers do not have it: there, a number that would be rounded is an error. */
const exact = JSON as unknown as Partial<ExactJson>;
/** What is wrong with a number that would be rounded. */
export const CANNOT_KEEP =
  "This version of Node or of the browser would round a number with so many digits. Use Node 22 or a newer browser, or write the number as a text.";

/** A shorter number is always safe: 2^53 has 16 digits, and a number overflows only with a three-digit exponent. */
const MAY_BE_UNSAFE = /\d{16}|[eE]\+?\d{3}/;
/** Digits of a number: as many as 2^256 has. Parsers of other languages refuse much longer ones, or take long. */
export const MAX_DIGITS = 78;
const NUMBER = /-?\d[\d.eE+-]*/y;
const [QUOTE, BACKSLASH, MINUS, ZERO, NINE] = [0x22, 0x5c, 0x2d, 0x30, 0x39];

/**
 * A reviver would be called for every value, which takes many times as long as the parser. So only the numbers that would be
 * rounded are replaced: by strings with a random mark in the text, and by raw values in what was parsed.
 * @throws SyntaxError
 * @throws RangeError when a number would be rounded here
 */
export function parseExact(text: string): unknown {
  // First as it is: the replacement relies on correct JSON.
  const value: unknown = JSON.parse(text);
  if (!MAY_BE_UNSAFE.test(text)) return value;
  const mark = randomKey();
  const marked = markLossy(text, mark);
  if (marked === null) return value;
  if (exact.rawJSON === undefined) throw new RangeError(CANNOT_KEEP);
  return unmark(JSON.parse(marked), mark, exact.rawJSON);
}

/** Replaces the numbers that would be rounded. @returns null when there is none. */
function markLossy(text: string, mark: string): string | null {
  const parts: string[] = [];
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      NUMBER.lastIndex = at;
      const source = NUMBER.exec(text)?.[0] ?? "";
      if (isLossy(Number(source), source)) {
        parts.push(text.slice(copied, at), `"${mark}${source}"`);
        copied = at + source.length;
      }
      at += source.length - 1;
    }
  }
  return parts.length === 0 ? null : parts.join("") + text.slice(copied);
}

/** @param start of a string in correct JSON. @returns the position of its closing quote. */
export function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

/** Puts raw values in the place of the marked strings. */
function unmark(value: unknown, mark: string, raw: ExactJson["rawJSON"]): unknown {
  if (typeof value === "string") return value.startsWith(mark) ? raw(value.slice(mark.length)) : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) value[index] = unmark(value[index], mark, raw);
    return value;
  }
  for (const key of Object.keys(value)) {
    const child = (value as Record<string, unknown>)[key];
    const unmarked = unmark(child, mark, raw);
    // Not an assignment: the key may be `__proto__`.
    if (unmarked !== child) {
      Object.defineProperty(value, key, { value: unmarked, enumerable: true, configurable: true, writable: true });
    }
  }
  return value;
}

/** A long fraction counts too: what a caller sent must not lose most of its digits without a word. */
function isLossy(value: number, source: string): boolean {
  if (!Number.isFinite(value) || digitsOf(source) > MAX_DIGITS) return true;
  return !Number.isSafeInteger(value) && /^-?\d+$/.test(source);
}

/** How many digits a number is written with. */
export function digitsOf(source: string): number {
  return source.replace(/\D/g, "").length;
}

/** The text of a body, with all digits of each bigint as a number. `JSON.rawJSON` does not exist in Node 20. */
export function bodyText(body: unknown): string {
  const mark = randomKey();
  const text = JSON.stringify(body, function (this: Record<string, unknown>, key, value: unknown) {
    // Not `value`: programs that give BigInt a `toJSON` make a text of it.
    const own = this[key];
    return typeof own === "bigint" ? `${mark}${own.toString()}` : value;
  });
  return text.includes(mark) ? text.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, "g"), "$1") : text;
}

export function isRawNumber(value: unknown): value is RawNumber {
  return exact.isRawJSON?.(value) === true;
}
