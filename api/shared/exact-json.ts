/*
 * JSON without rounding. A number that JavaScript cannot represent exactly, such as an integer above 2^53-1, is parsed
 * into a raw value: an object that keeps the digits. `JSON.stringify` writes them back unchanged.
 */

/** A number that keeps the digits of the JSON text. */
export interface RawNumber {
  readonly rawJSON: string;
}

// Part of ECMAScript 2026. TypeScript has no types for it yet.
interface ExactJson {
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
}
const exact = JSON as unknown as ExactJson;

/** A shorter number is always safe: 2^53 has 16 digits, and a number overflows only with a three-digit exponent. */
const MAY_BE_UNSAFE = /\d{16}|[eE]\+?\d{3}/;

/** @throws SyntaxError */
export function parseExact(text: string): unknown {
  if (!MAY_BE_UNSAFE.test(text)) return JSON.parse(text) as unknown;
  return exact.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && isLossy(value, source) ? exact.rawJSON(source) : value,
  );
}

function isLossy(value: number, source: string): boolean {
  return !Number.isFinite(value) || (!Number.isSafeInteger(value) && /^-?\d+$/.test(source));
}

export function isRawNumber(value: unknown): value is RawNumber {
  return exact.isRawJSON(value);
}
