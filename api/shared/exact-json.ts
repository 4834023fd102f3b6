/*
 * JSON without rounding. A number that a JavaScript number cannot hold (an integer beyond 2^53-1, say) is read as a "raw"
 * value, an object that keeps the digits and that `JSON.stringify` writes back as they were.
 */

/** A number kept as it was written. */
export interface RawNumber {
  readonly rawJSON: string;
}

// Part of the language since ECMAScript 2026; TypeScript does not describe it yet.
interface ExactJson {
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
}
const exact = JSON as unknown as ExactJson;

/** Nothing shorter can be unsafe: 2^53 has 16 digits, and only an exponent of three digits overflows. */
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
