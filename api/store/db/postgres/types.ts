import pg from "pg";

/** Type ids of PostgreSQL. */
const BOOL = 16;
const INT8 = 20;
const NUMERIC = 1700;

const PARSERS: Readonly<Record<number, (text: string) => number>> = {
  // SQLite answers 1 or 0.
  [BOOL]: (text) => (text === "t" ? 1 : 0),
  [INT8]: exactNumber,
  [NUMERIC]: exactNumber,
};

/** How values of answers become JavaScript values. Given to a pool, so other pools of the process keep their own. */
export const ANSWER_TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    (format === "binary" ? undefined : PARSERS[oid]) ?? (pg.types.getTypeParser(oid, format) as unknown),
};

/** @throws RangeError when the number would be rounded. */
function exactNumber(text: string): number {
  const value = Number(text);
  if (/^-?\d+$/.test(text) && !Number.isSafeInteger(value)) {
    throw new RangeError(`The database answered ${text}. Numbers beyond 2^53 would be rounded.`);
  }
  return value;
}
