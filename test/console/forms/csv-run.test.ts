import { expect } from "chai";

import type { Table } from "../../../client/drop/table.ts";
import { advance, type BulkItem } from "../../../client/bulk-progress.ts";
import { failedRowsFile } from "../../../console/forms/csv/outcomes.ts";
import { newRun, readProgress, saveProgress, type Store } from "../../../console/forms/csv/progress.ts";
import { rememberRows, sentBefore } from "../../../console/forms/csv/sent-rows.ts";

const NOW = new Date("2026-11-23T00:00:00Z");

/** The storage of a browser, with room for so many characters in an entry. */
function storeOf(entries: Record<string, string> = {}, room = Infinity): Store {
  const stored = new Map(Object.entries(entries));
  return {
    getItem: (name) => stored.get(name) ?? null,
    setItem: (name, value) => {
      if (value.length > room) throw new DOMException("no room", "QuotaExceededError");
      stored.set(name, value);
    },
    removeItem: (name) => stored.delete(name),
  };
}

function tableOf(...names: string[]): Table {
  const rows = names.map((name, index) => ({ line: index + 2, end: index + 2, cells: new Map([["name", name]]) }));
  return { columns: ["name"], rows, problems: [], format: null };
}

const TABLE: Table = { ...tableOf("a", "b,b", "c", "d"), columns: ["name", "error"] };

/** A run with a row in each state, and one whose answer is not known. */
function someRun() {
  const run = newRun("run", 4, NOW);
  const send = { step: "send" as const, bodies: [], at: NOW.getTime() };
  const errors = [{ field: "image", code: "invalid", message: 'Wrong, "really".' }];
  advance(run.minting, { ...send, key: "import-run-0", items: [0, 1, 2] });
  advance(run.minting, {
    step: "answer",
    key: "import-run-0",
    results: [{ request_id: "r0" }, { error_code: "validation_failed", message: "x", errors }, { request_id: "r2" }],
  });
  const failed = { code: "reverted", message: "It reverted.", errors: [], status: null };
  const outcomes: { index: number; outcome: BulkItem }[] = [
    { index: 0, outcome: { is: "completed", requestId: "r0", tokenId: "4" } },
    { index: 2, outcome: { is: "failed", requestId: "r2", ...failed } },
  ];
  advance(run.minting, { step: "settle", outcomes });
  advance(run.minting, { ...send, key: "import-run-1", items: [3] });
  return run;
}

/** As the version 0.3.0 of the console stores it. */
const STORED = JSON.stringify({
  version: 1,
  id: "run",
  startedAt: NOW.toISOString(),
  batches: 2,
  open: { key: "import-run-1", rows: [3] },
  most: Number.MAX_SAFE_INTEGER,
  rows: [
    { is: "completed", requestId: "r0", tokenId: "4" },
    { is: "failed", requestId: null, column: "image", message: 'Wrong, "really".' },
    { is: "failed", requestId: "r2", column: null, message: "It reverted." },
    { is: "sent", key: "import-run-1" },
  ],
});

describe("the failed rows of an import", () => {
  it("become a file with column and reason, to correct", () => {
    expect(failedRowsFile(TABLE, someRun())).to.equal(
      'name,error\r\n"b,b","image: Wrong, ""really""."\r\nc,It reverted.\r\n',
    );
  });

  it("are the same after a reload of the page", () => {
    const run = readProgress(storeOf({ it: STORED }), "it", 4, NOW)!;
    expect(failedRowsFile(TABLE, run)).to.equal(failedRowsFile(TABLE, someRun()));
  });

  it("name the wrong fields of a request that failed later, and not those of a call that was refused as a whole", () => {
    const run = newRun("run", 2, NOW);
    const failed = { is: "failed", code: "x", message: "No.", errors: [{ field: "name", code: "y", message: "Bad." }] };
    run.minting.items = [
      { ...failed, is: "failed", requestId: "r0", status: null },
      { ...failed, is: "failed", requestId: null, status: 422 },
    ];
    expect(failedRowsFile(TABLE, run)).to.equal('name,error\r\na,No. name: Bad.\r\n"b,b",No.\r\n');
  });
});

describe("the progress of an import", () => {
  it("is stored in the form of 0.3.0, and such a run is continued with the same keys", () => {
    const store = storeOf();
    expect(saveProgress(store, "it", { progress: someRun(), table: TABLE.rows })).to.equal(true);
    expect(JSON.parse(store.getItem("it")!)).to.deep.equal(JSON.parse(STORED));
    const { minting, startedAt } = readProgress(storeOf({ it: STORED }), "it", 4, NOW)!;
    expect(startedAt).to.equal(NOW.toISOString());
    expect(minting).to.deep.include({ name: "import-run", batches: 2 });
    expect(minting.open).to.deep.equal([{ key: "import-run-1", items: [3], bodies: [], at: NOW.getTime() }]);
    expect(minting.items.map(({ is }) => is)).to.deep.equal(["completed", "failed", "failed", "sent"]);
  });

  it("keeps the warnings of the service", () => {
    const store = storeOf();
    const run = someRun();
    run.minting.warnings = [{ field: "image", code: "unescaped_hash", message: "A # ends it.", items: [0] }];
    saveProgress(store, "it", { progress: run, table: TABLE.rows });
    expect(readProgress(store, "it", 4, NOW)?.minting.warnings).to.deep.equal(run.minting.warnings);
  });

  it("is found for the same rows only, within six days", () => {
    expect(readProgress(storeOf({ it: STORED }), "it", 3, NOW)).to.equal(null);
    expect(readProgress(storeOf({ it: STORED }), "it", 4, new Date("2026-11-30T00:00:00Z"))).to.equal(null);
    expect(readProgress(storeOf({}), "it", 4, NOW)).to.equal(null);
  });

  it("says when the browser has no room for it", () => {
    expect(saveProgress(storeOf({}, 10), "it", { progress: someRun(), table: TABLE.rows })).to.equal(false);
  });
});

describe("rows that were sent while others of their file were wrong", () => {
  const PLACE = ["app", "0xcats"];
  const sent = { run: "first", table: tableOf("A", "B", "C"), rows: [0, 2] };
  const lines = (store: Store, run: string, table: Table, { place = PLACE, now = NOW } = {}) => [
    ...sentBefore(store, place, { run, table }, now).keys(),
  ];

  it("are found in another file by what is in them, whatever their line is", () => {
    const store = storeOf();
    expect(rememberRows(store, PLACE, sent, NOW)).to.equal(true);
    expect(lines(store, "second", tableOf("C", "B", "X", "A"))).to.deep.equal([2, 5]);
  });

  it("are not found by their own run, in another collection, or after the time of a run", () => {
    const store = storeOf();
    rememberRows(store, PLACE, sent, NOW);
    expect(lines(store, "first", sent.table)).to.deep.equal([]);
    expect(lines(store, "second", sent.table, { place: ["app", "0xdogs"] })).to.deep.equal([]);
    expect(lines(store, "second", sent.table, { now: new Date(NOW.getTime() + 7 * 86_400_000) })).to.deep.equal([]);
  });

  it("say that there is no room, and forget the oldest files", () => {
    expect(rememberRows(storeOf({}, 10), PLACE, sent, NOW)).to.equal(false);
    const store = storeOf();
    for (let index = 0; index < 30; index++) {
      const name = index.toString();
      rememberRows(store, PLACE, { run: name, table: tableOf(name), rows: [0] }, NOW);
    }
    expect(lines(store, "last", tableOf("9", "10", "29"))).to.deep.equal([3, 4]);
  });
});
