import type { Compilable, CompiledQuery, RawBuilder } from "kysely";

import { type Db, engineOf, isFew, jsonOfSet, type SetColumns, setFromJson, type SetValue } from "./sql.ts";

type Values = Record<string, string | number | null>;

/** Stands for a value while a query is compiled. Any use except as a parameter of the query is an error. */
class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  [Symbol.toPrimitive](): never {
    throw new TypeError(`the value of ${this.name} is not known while the query is compiled`);
  }
}

/**
 * A query that is built and compiled once, because building one with Kysely costs more than running it.
 * @param build builds the query. The values it gets are placeholders, except those that are null: it may depend on which
 * values are null, and is called once for each such case. Constants must be literals (`sql.lit`).
 */
export function compiledQuery<V extends Values, Row>(
  build: (db: Db, values: V) => Compilable<Row>,
): (db: Db, values: V) => Promise<Row[]> {
  const known = new Map<string, CompiledQuery<Row>>();
  return async (db, values) => {
    const given = Object.keys(values).filter((name) => values[name] !== null);
    const shape = [engineOf(db), ...given].join();
    const query = known.get(shape) ?? compile(db, build, values);
    known.set(shape, query);
    const parameters = query.parameters.map((parameter) => values[(parameter as Placeholder).name]);
    return (await db.executeQuery<Row>({ ...query, parameters })).rows;
  };
}

/** The values of a query whose only parameter is a set. `many` is null for few rows, so few and many have a statement each. */
interface SetValues {
  [name: string]: string | number | null;
  json: string;
  many: 1 | null;
}

/**
 * The same for a query whose only parameter is a set: see `rowSet`.
 * @param build gets the table expression of the set.
 */
export function compiledSetQuery<Name extends string, Row>(
  columns: SetColumns<Name>,
  build: (input: RawBuilder<unknown>) => RawBuilder<Row>,
): (db: Db, rows: readonly Record<NoInfer<Name>, SetValue>[]) => Promise<Row[]> {
  const run = compiledQuery<SetValues, Row>((db, { json, many }) => {
    const query = build(setFromJson(db, columns, json, many === null));
    return { compile: () => query.compile(db) };
  });
  return (db, rows) => run(db, { json: jsonOfSet(columns, rows), many: isFew(rows) ? null : 1 });
}

function compile<V extends Values, Row>(
  db: Db,
  build: (db: Db, values: V) => Compilable<Row>,
  values: V,
): CompiledQuery<Row> {
  const placeholders = Object.keys(values).map((name) => [name, values[name] === null ? null : new Placeholder(name)]);
  const query = build(db, Object.fromEntries(placeholders) as V).compile();
  // A constant would be that of the first call, and answer all others.
  if (!query.parameters.every((parameter) => parameter instanceof Placeholder)) {
    throw new TypeError(`a compiled query has a constant parameter: ${query.sql}`);
  }
  return query;
}
