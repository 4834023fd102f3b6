import { digitsOf, isRawNumber, MAX_DIGITS } from "./exact-json.ts";

/** What is wrong with a number that is longer, or infinite. */
export const NUMBERS = `Numbers have at most ${MAX_DIGITS.toString()} digits, and are finite as a double.`;

/** Whether every database can store the text: PostgreSQL takes no NUL, and UTF-8 has no lone surrogates. */
export function isStorable(value: string): boolean {
  return value.isWellFormed() && !value.includes("\0");
}

/** Says what is wrong with a name that has control characters. */
export const NO_CONTROLS = "Must have no control characters.";

/** Control characters have no use in a name, and a terminal obeys them. @param but those that are allowed */
export function hasControls(value: string, but = ""): boolean {
  return (value.match(/\p{Cc}/gu) ?? []).some((character) => !but.includes(character));
}

/**
 * What keeps a JSON value from being stored. Walks level by level and never recurses: the caller chooses the depth.
 * @param levels the deepest nesting that is allowed.
 */
export function faultOf(value: object, levels: number): "depth" | "text" | "number" | null {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return "depth";
    const children = level.flatMap(partsOf);
    if (children.some((child) => typeof child === "string" && !isStorable(child))) return "text";
    if (children.some((child) => isRawNumber(child) && !isUsableNumber(child.rawJSON))) return "number";
    level = children.filter((child) => typeof child === "object" && child !== null && !isRawNumber(child));
  }
  return null;
}

/** Not every parser knows infinity, and a longer number is not a quantity of anything. */
function isUsableNumber(digits: string): boolean {
  return Number.isFinite(Number(digits)) && digitsOf(digits) <= MAX_DIGITS;
}

/** Keys and values of an object or array. */
function partsOf(item: unknown): unknown[] {
  return Array.isArray(item) ? item : Object.entries(item as Record<string, unknown>).flat();
}
