import { isRawNumber } from "./exact-json.ts";

/** Whether every database can store the text: PostgreSQL takes no NUL, and UTF-8 has no lone surrogates. */
export function isStorable(value: string): boolean {
  return value.isWellFormed() && !value.includes("\0");
}

/**
 * What keeps a JSON value from being stored. Walks level by level and never recurses: the caller chooses the depth.
 * @param levels the deepest nesting that is allowed.
 */
export function faultOf(value: unknown[], levels: number): "depth" | "text" | null {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return "depth";
    const children = level.flatMap(partsOf);
    if (children.some((child) => typeof child === "string" && !isStorable(child))) return "text";
    level = children.filter((child) => typeof child === "object" && child !== null && !isRawNumber(child));
  }
  return null;
}

/** Keys and values of an object or array. */
function partsOf(item: unknown): unknown[] {
  return Array.isArray(item) ? item : Object.entries(item as Record<string, unknown>).flat();
}
