import { type RawBuilder, sql } from "kysely";

import { type Db, engineOf } from "./engine.ts";
import { storableText } from "./postgres-types.ts";

/** A value of a set's row, as JSON and both engines know it. */
export type SetValue = string | number | null;

/** The columns of a set with their SQL types, in the order of the values. */
export type SetColumns<Name extends string> = Record<Name, "text" | "integer">;

/** Rows that count as few: those of a page. */
const FEW = 30;

/**
 * Rows as a table expression with a single parameter, for `insert ... select`, `update ... from` and joins. There is one text
 * of the statement for few rows and one for many, so few texts are compiled and prepared. The column `ord` numbers the rows
 * from 0 on.
 *
 *     sql`insert into t (a, b) select a, b from ${rowSet(trx, { a: "text", b: "integer" }, rows)} as input order by ord`
 */
export function rowSet<Name extends string>(
  db: Db,
  columns: SetColumns<Name>,
  rows: readonly Record<NoInfer<Name>, SetValue>[],
): RawBuilder<unknown> {
  const names = Object.keys(columns) as Name[];
  const json = jsonOf(rows.map((row) => names.map((name) => row[name])));
  if (engineOf(db) === "postgres") {
    const picked = names.map((name, index) => {
      const type = columns[name] === "text" ? sql`text` : sql`bigint`;
      return sql`(item.value ->> ${sql.lit(index)})::${type} as ${sql.ref(name)}`;
    });
    // The planner does not look into the parameter. It takes ten rows for an array that it does not know, and a hundred for the
    // function alone. With a hundred in place of few, it reads a table of some thousand rows from end to end instead of looking
    // into its index. With ten in place of a thousand, it may compare each of them with each row of another set.
    const elements = sql`jsonb_array_elements(${json}::jsonb)`;
    const items = rows.length <= FEW ? sql`unnest(array(select ${elements}))` : elements;
    return sql`(select ${sql.join(picked)}, item.ord - 1 as ord from ${items} with ordinality as item(value, ord))`;
  }
  const picked = names.map((name, index) => sql`item.value ->> ${sql.lit(index)} as ${sql.ref(name)}`);
  return sql`(select ${sql.join(picked)}, item.key as ord from jsonb_each(${json}) as item)`;
}

/**
 * Most characters of text in one part of a set. Both engines have a limit for one value, PostgreSQL 256 MB for the elements of
 * an array, and a character takes up to six bytes of JSON.
 */
const MOST_IN_PART = 8 * 1024 * 1024;

/**
 * Rows whose texts may be large, in parts for one statement each, in their order. A single row may be larger than a part: its
 * fields have limits of their own.
 */
export function* inParts<Row extends Record<string, SetValue>>(rows: readonly Row[]): Generator<Row[]> {
  let [part, length]: [Row[], number] = [[], 0];
  for (const row of rows) {
    const own = lengthOf(row);
    if (part.length > 0 && length + own > MOST_IN_PART) {
      yield part;
      [part, length] = [[], 0];
    }
    part.push(row);
    length += own;
  }
  if (part.length > 0) yield part;
}

function lengthOf(row: Record<string, SetValue>): number {
  let length = 0;
  for (const name in row) {
    const value = row[name];
    if (typeof value === "string") length += value.length;
  }
  return length;
}

/** What PostgreSQL cannot store, as JSON writes it: NUL and halves of surrogate pairs. Contracts may name such things. */
const NOT_STORABLE = /\\u(0000|d[89a-f])/;

function jsonOf(rows: readonly (SetValue | undefined)[][]): string {
  const json = JSON.stringify(rows);
  if (!NOT_STORABLE.test(json)) return json;
  return JSON.stringify(
    rows.map((row) => row.map((value) => (typeof value === "string" ? storableText(value) : value))),
  );
}
