import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";

import { describeOn } from "../../../support/engine.ts";
import { EXCEPTIONS, type Liberty } from "../plans/exceptions.ts";
import { largeTables } from "../support/large-database.ts";
import { type PlannedStatement, plansOf } from "../support/recording.ts";
import { isExcepted, plain, tour, type Toured } from "../support/toured.ts";
import { unreachedStatements } from "../support/unreached.ts";

/** Rows of each large table. A plan follows from the schema, whatever the number of rows. */
const ROWS = 2_400;

describeOn("sqlite", "query plans", () => {
  let toured: Toured;
  let tables: ReturnType<typeof largeTables>;

  before("fill a database, and call every function of the store", async () => {
    toured = await tour(ROWS);
    tables = largeTables(toured.file);
  });
  after(() => toured.remove());

  const plans = () =>
    plansOf(
      toured.file,
      toured.report.statements.map(({ sql }) => sql),
    );
  const large = (name: string) => tables.some((table) => table.name === name);

  /** What is wrong with a plan. */
  function faults({ sql, plan }: PlannedStatement): string[] {
    const found: { liberty: Liberty; words: string }[] = [];
    for (const table of scans(sql, plan).filter(large)) found.push({ liberty: "scan", words: `SCAN ${table}` });
    // A small table may be sorted.
    if (tables.some(({ name }) => new RegExp(`\\b${name}\\b`).test(sql))) {
      for (const step of plan.filter((line) => line.startsWith("USE TEMP B-TREE")))
        found.push({ liberty: "sort", words: step });
    }
    return found
      .filter(({ liberty }) => !isExcepted(sql, liberty))
      .map(({ words }) => `${words}: ${sql} | ${plan.join(" | ")}`.replace(/\s+/g, " "));
  }

  it("fills every large table", () => {
    expect(tables.filter(({ rows }) => rows < ROWS)).to.deep.equal([]);
  });

  it("sees every statement that the store builds", () => {
    const unreached = unreachedStatements(toured.coverage);
    expect(unreached, `call it in test/api/store/plans:\n${unreached.join("\n")}`).to.deep.equal([]);
  });

  it("scan no large table, and sort nothing without a bound", () => {
    const found = plans().flatMap(faults);
    expect(found, found.join("\n")).to.deep.equal([]);
  });

  it("read only requests with unlockable content, for the tokens of a wallet", () => {
    const ofWallets = plans().filter(({ sql }) => /"unlockable".* from "holdings"/s.test(sql));
    const indexes = ofWallets.map(({ plan }) => plan.filter((step) => step.includes("SEARCH requests")).join());
    expect(new Set(indexes)).to.deep.equal(
      new Set(["SEARCH requests USING INDEX requests_unlockable (id=?) LEFT-JOIN"]),
    );
  });

  it("have no exception that is not needed", () => {
    const unused = EXCEPTIONS.filter(
      ({ statement }) => !toured.report.statements.some(({ sql }) => statement.test(plain(sql))),
    );
    expect(unused.map(({ statement }) => String(statement))).to.deep.equal([]);
  });

  it("find a scan where there is one", () => {
    const statements = [
      "select * from requests where transaction_hash = ?",
      "select * from transfers order by timestamp limit 1",
      "select r.seq from requests as r where r.errors = ?",
    ];
    const found = plansOf(toured.file, statements).flatMap(faults);
    for (const fault of ["SCAN requests", "SCAN transfers", "USE TEMP B-TREE FOR ORDER BY"])
      expect(
        found.some((text) => text.startsWith(fault)),
        fault,
      ).to.equal(true);
  });

  it("find a statement that nothing called", () => {
    const empty = join(toured.folder, "no-coverage");
    mkdirSync(empty);
    expect(unreachedStatements(empty)).to.include("api/store/requests/requests.ts: not loaded");
  });
});

/** Tables that are read from end to end, by their own names. */
function scans(sql: string, plan: string[]): string[] {
  return plan.flatMap((step) => {
    // A virtual table is a set in memory.
    const [, name] = /^SCAN (\w+)(?!.*VIRTUAL TABLE)/.exec(step) ?? [];
    if (name === undefined) return [];
    const [, table] = new RegExp(`"?(\\w+)"? as "?${name}"?\\b`).exec(sql) ?? [];
    return [table ?? name];
  });
}
