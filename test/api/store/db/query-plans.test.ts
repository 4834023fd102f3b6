import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";

import { type Database, openDatabase } from "../../../../api/store/db/database.ts";
import { FairSlots } from "../../../../api/shared/fair-slots.ts";
import { abandonDeliveries } from "../../../../api/store/outbox/abandoned-deliveries.ts";
import { takeDueDeliveries } from "../../../../api/store/outbox/due-deliveries.ts";
import { describeOn } from "../../../support/engine.ts";
import { temporaryFolder, type TemporaryFolder } from "../../../support/folder.ts";
import { ROOT, TestProcess } from "../../../support/process.ts";
import { EXCEPTIONS, type Liberty } from "../plans/exceptions.ts";
import type { TourReport } from "../plans/main.ts";
import { BUSY, fill, LARGE, largeTables } from "../support/large-database.ts";
import { SLOTS } from "../plans/tour.ts";
import { type PlannedStatement, plansOf } from "../support/recording.ts";
import { unreachedStatements } from "../support/unreached.ts";
import { cpuTime } from "../support/cpu-time.ts";

/** The project's own Node runs TypeScript as it is, so offsets in its coverage are offsets in the sources. */
const NODE = join(ROOT, "node_modules", "node", "bin", process.platform === "win32" ? "node.exe" : "node");
/** No statement may take as long as reading one large table. The plans show scans; this finds what they do not show. */
const SLOW_PART = 1;
const NOW = 1_000;

describeOn("sqlite", "query plans", () => {
  let folder: TemporaryFolder;
  let file: string;
  let coverage: string;
  let report: TourReport;
  let tables: ReturnType<typeof largeTables>;

  before("fill a database, and call every function of the store", async () => {
    folder = await temporaryFolder();
    file = join(folder.path, "large.sqlite");
    coverage = join(folder.path, "coverage");
    mkdirSync(coverage);
    await (await openDatabase(`file:${file}`)).close();
    fill(file);
    tables = largeTables(file);
    const toured = join(folder.path, "toured.sqlite");
    cpSync(file, toured);
    const child = new TestProcess(
      [join(import.meta.dirname, "..", "plans", "main.ts"), toured],
      { NODE_V8_COVERAGE: coverage },
      NODE,
    );
    expect(await child.gone(), child.output).to.equal(0);
    const [, json = ""] = /^REPORT (.*)$/m.exec(child.output) ?? [];
    report = JSON.parse(json) as TourReport;
  });
  after(() => folder.remove());

  const plans = () =>
    plansOf(
      file,
      report.statements.map(({ sql }) => sql),
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
    expect(tables.filter(({ rows }) => rows < LARGE)).to.deep.equal([]);
  });

  it("sees every statement that the store builds", () => {
    const unreached = unreachedStatements(coverage);
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

  it("read no more rows than they need", () => {
    const slow = report.statements.filter(({ sql, ms }) => ms > report.walkMs * SLOW_PART && !isExcepted(sql, "slow"));
    const words = slow.map(({ sql, ms }) => `${ms.toFixed(1)} ms: ${sql.replace(/\s+/g, " ")}`);
    expect(slow, `reading a large table takes ${report.walkMs.toFixed(1)} ms\n${words.join("\n")}`).to.deep.equal([]);
  });

  it("skip the rows before the deepest offset in an index", () => {
    const slow = report.offsets.filter(({ first, deepest }) => deepest - first > report.walkMs * SLOW_PART);
    expect(slow).to.deep.equal([]);
  });

  it("have no exception that is not needed", () => {
    const unused = EXCEPTIONS.filter(
      ({ statement }) => !report.statements.some(({ sql }) => statement.test(plain(sql))),
    );
    expect(unused.map(({ statement }) => String(statement))).to.deep.equal([]);
  });

  it("find a scan where there is one", () => {
    const statements = [
      "select * from requests where transaction_hash = ?",
      "select * from transfers order by timestamp limit 1",
      "select r.seq from requests as r where r.errors = ?",
    ];
    const found = plansOf(file, statements).flatMap(faults);
    for (const fault of ["SCAN requests", "SCAN transfers", "USE TEMP B-TREE FOR ORDER BY"])
      expect(
        found.some((text) => text.startsWith(fault)),
        fault,
      ).to.equal(true);
  });

  it("find a statement that nothing called", () => {
    const empty = join(folder.path, "no-coverage");
    mkdirSync(empty);
    expect(unreachedStatements(empty)).to.include("api/store/requests/requests.ts: not loaded");
  });

  describe("given a long queue of deliveries", () => {
    let database: Database;
    before(async () => {
      database = await openDatabase(`file:${file}`);
    });
    after(() => database.close());

    const look = () =>
      database.write((trx) =>
        takeDueDeliveries(trx, { now: NOW, leaseUntil: NOW + 60_000, slots: new FairSlots(SLOTS) }),
      );
    const timed = async (work: () => Promise<unknown>) => {
      const start = cpuTime();
      await work();
      return cpuTime() - start;
    };

    const severalTimes = async (times: number, work: () => Promise<unknown>) => {
      const all: number[] = [];
      while (all.length < times) all.push(await timed(work));
      return all;
    };

    it("is looked at in a bounded time, and ended in chunks", async () => {
      // What a look would cost if it passed over the whole queue: both are measured now, on the same machine.
      const passed = database.read.selectFrom("deliveries").select((select) => select.fn.countAll().as("rows"));
      const whole = passed.where("next_at", "is not", null).where("created_at", ">", 0);
      const scan = Math.max(...(await severalTimes(5, () => whole.execute())));
      // The fastest of many looks, because other work on the machine interrupts some. One that passed over the queue would
      // also join it with the events, which costs several times as much as counting.
      expect(Math.min(...(await severalTimes(10, look))), "a look").to.be.below(scan);
      const reason = "the webhook was removed";
      const abandon = () => database.write((trx) => abandonDeliveries(trx, BUSY.app, reason, NOW));
      expect(await timed(abandon), "the end of the queue").to.be.below(scan * 2);
      let looks = 0;
      for (; (await look()).more; looks++) expect(looks, "it ends").to.be.below(LARGE / 1_000 + 1);
      expect(looks).to.be.above(LARGE / 2_000);
      const pending = database.read.selectFrom("deliveries").select("seq").where("status", "=", "pending").limit(1);
      expect(await pending.execute()).to.deep.equal([]);
    });
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

function plain(sql: string): string {
  return sql.replace(/\s+/g, " ");
}

function isExcepted(sql: string, liberty: Liberty): boolean {
  return EXCEPTIONS.some(({ statement, liberties }) => liberties.includes(liberty) && statement.test(plain(sql)));
}
