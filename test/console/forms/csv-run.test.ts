import { expect } from "chai";

import { advance, type BulkItem } from "../../../client/bulk-progress.ts";
import { failedRowsFile } from "../../../console/forms/csv/outcomes.ts";
import { newRun, readProgress, saveProgress } from "../../../console/forms/csv/progress.ts";
import type { Table } from "../../../console/forms/csv/table.ts";

const NOW = new Date("2026-11-23T00:00:00Z");

function storeOf(entries: Record<string, string> = {}) {
  const map = new Map(Object.entries(entries));
  return {
    getItem: (name: string) => map.get(name) ?? null,
    setItem: (name: string, value: string) => void map.set(name, value),
    removeItem: (name: string) => void map.delete(name),
  };
}

const TABLE: Table = {
  columns: ["name", "error"],
  rows: ["a", "b,b", "c", "d"].map((name, index) => ({ line: index + 2, cells: new Map([["name", name]]) })),
  problems: [],
};

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

  it("is found for the same rows only, within six days", () => {
    expect(readProgress(storeOf({ it: STORED }), "it", 3, NOW)).to.equal(null);
    expect(readProgress(storeOf({ it: STORED }), "it", 4, new Date("2026-11-30T00:00:00Z"))).to.equal(null);
    expect(readProgress(storeOf({}), "it", 4, NOW)).to.equal(null);
  });

  it("says when the browser has no room for it", () => {
    const full = {
      ...storeOf(),
      setItem: () => {
        throw new DOMException("full", "QuotaExceededError");
      },
    };
    expect(saveProgress(full, "it", { progress: someRun(), table: TABLE.rows })).to.equal(false);
  });
});
