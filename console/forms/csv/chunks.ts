import type { Item } from "./items.ts";

/** Most items of a batch: the API takes no more. */
export const MAX_ITEMS = 1_000;
/** Bytes and JSON values of a batch. Half of what the service allows by default. */
const BYTES = 4_000_000;
const VALUES = 100_000;

/** The longest beginning of `rows` that fits into one batch. It has one row at least. */
export function firstChunk(rows: readonly number[], items: readonly Item[], most = MAX_ITEMS): number[] {
  let [bytes, values] = [0, 0];
  const candidates = rows.slice(0, Math.min(most, MAX_ITEMS));
  const end = candidates.findIndex((row, index) => {
    bytes += new TextEncoder().encode(JSON.stringify(items[row])).length + 1;
    values += valuesOf(items[row]);
    return index > 0 && (bytes > BYTES || values > VALUES);
  });
  return end === -1 ? candidates : candidates.slice(0, end);
}

/** Values of an item, counted as generously as the service counts them. An item of a table is not nested deeply. */
function valuesOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce<number>((sum, one) => sum + valuesOf(one), 2);
}
