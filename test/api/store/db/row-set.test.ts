import { expect } from "chai";
import fc from "fast-check";
import {
  type DialectAdapter,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresQueryCompiler,
  type QueryCompiler,
  sql,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";

import { type Db, inParts, rowSet, type SetValue } from "../../../../api/store/db/sql.ts";
import type { Tables } from "../../../../api/store/db/schema.ts";
import { useTestDatabase } from "../../../support/use-database.ts";

type Row = Record<"a" | "n", SetValue>;

const COLUMNS = { a: "text", n: "integer" } as const;

/** Compile statements for an engine. They have no database. */
const SQLITE = compilerOf(new SqliteAdapter(), new SqliteQueryCompiler());
const POSTGRES = compilerOf(new PostgresAdapter(), new PostgresQueryCompiler());

function compilerOf(adapter: DialectAdapter, compiler: QueryCompiler): Db {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => adapter,
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => compiler,
    },
  });
}

describe("rowSet", () => {
  const database = useTestDatabase({ per: "block" });

  const select = (db: Db, rows: Row[]) =>
    sql<Row & { ord: number }>`select a, n, ord from ${rowSet(db, COLUMNS, rows)} as input order by ord`;

  it("returns the rows as they were given, numbered in their order", async () => {
    const { rows } = await select(database.read, [
      { a: "x", n: 1 },
      { a: null, n: null },
      { a: "1", n: -9_007_199_254_740_991 },
    ]).execute(database.read);
    expect(rows).to.deep.equal([
      { a: "x", n: 1, ord: 0 },
      { a: null, n: null, ord: 1 },
      { a: "1", n: -9_007_199_254_740_991, ord: 2 },
    ]);
  });

  it("keeps any text and any safe integer", async () => {
    const text = fc.string({ unit: "grapheme" }).filter((value) => !value.includes("\0"));
    const row = fc.record({ a: fc.option(text), n: fc.option(fc.maxSafeInteger()) });
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 20 }), async (given) => {
        const { rows } = await select(database.read, given).execute(database.read);
        expect(rows.map(({ a, n }) => ({ a, n }))).to.deep.equal(given);
      }),
      // Without rows, it is an empty table.
      { numRuns: 50, examples: [[[]]] },
    );
  });

  const textsAs: Record<string, [given: string, stored: string][]> = {
    "replaces what PostgreSQL cannot store: NUL and halves of surrogate pairs": [
      ["a\0b", "a\ufffdb"],
      ["\ud800", "\ufffd"],
      ["\udfff!", "\ufffd!"],
      ["\\u0000", "\\u0000"],
      ["🙂", "🙂"],
    ],
    "keeps text that looks like JSON, a number or SQL": [
      '{"a":1}',
      "[1]",
      "true",
      "null",
      "007",
      "1e3",
      "'; drop table requests; --",
      '"',
      "\\u0041",
      "é\n\t",
    ].map((text) => [text, text]),
  };
  for (const [what, texts] of Object.entries(textsAs)) {
    it(what, async () => {
      const given = texts.map(([a], n) => ({ a, n }));
      const { rows } = await select(database.read, given).execute(database.read);
      expect(rows.map(({ a }) => a)).to.deep.equal(texts.map(([, stored]) => stored));
    });
  }

  // PostgreSQL plans few rows and many rows differently.
  for (const [engine, db, texts] of [
    ["SQLite", SQLITE, [[0, 1, 30, 31, 1_000]]],
    [
      "PostgreSQL",
      POSTGRES,
      [
        [0, 1, 30],
        [31, 1_000],
      ],
    ],
  ] as const) {
    it(`has ${texts.length === 1 ? "one text" : "two texts"} and one parameter for any number of rows on ${engine}`, () => {
      const statements = texts.flat().map((count) =>
        select(
          db,
          Array.from({ length: count }, (_, index) => ({ a: index.toString(), n: index })),
        ).compile(db),
      );
      const found = Map.groupBy(statements.keys(), (index) => statements[index]?.sql);
      expect([...found.values()].map((indexes) => indexes.map((index) => texts.flat()[index]))).to.deep.equal(texts);
      for (const { parameters } of statements) expect(parameters).to.have.length(1);
    });
  }
});

describe("inParts", () => {
  const row = (mebibytes: number) => ({ a: "a".repeat(mebibytes * 1024 * 1024), n: 1 });

  it("has at most 8 MiB of text in a part, in the order of the rows, and a larger row alone", () => {
    const rows = [row(3), row(5), row(1), row(9), row(0), row(8)];
    const parts = [...inParts(rows)];
    expect(parts.map((part) => part.map((one) => rows.indexOf(one)))).to.deep.equal([[0, 1], [2], [3], [4, 5]]);
    expect([...inParts([])]).to.deep.equal([]);
  });
});
