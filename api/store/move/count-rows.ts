import type { Db } from "../db/engine.ts";
import { countRows, readTables } from "./tables.ts";

/** How many rows each table has, by its name. */
export async function countAllRows(db: Db): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { name } of await readTables(db)) counts[name] = await countRows(db, name);
  return counts;
}

/** The tables whose number of rows differs, as a text; null when all are the same. */
export function differentCounts(
  expected: Readonly<Record<string, number>>,
  found: Readonly<Record<string, number>>,
): string | null {
  const tables = [...new Set([...Object.keys(expected), ...Object.keys(found)])].sort();
  const different = tables.filter((table) => expected[table] !== found[table]);
  if (different.length === 0) return null;
  const count = (rows: number | undefined) => (rows === undefined ? "no table" : rows.toString());
  return different.map((table) => `${table}: ${count(found[table])} instead of ${count(expected[table])}`).join(", ");
}
