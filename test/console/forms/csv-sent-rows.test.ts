import { expect } from "chai";

import type { Store } from "../../../console/forms/csv/progress.ts";
import { rememberRows, sentBefore } from "../../../console/forms/csv/sent-rows.ts";
import type { Table } from "../../../console/forms/csv/table.ts";

const NOW = new Date("2026-11-23T00:00:00Z");
const DAY = 86_400_000;
const PLACE = ["app", "0xcats"];

function tableOf(...names: string[]): Table {
  const rows = names.map((name, index) => ({ line: index + 2, cells: new Map([["name", name]]) }));
  return { columns: ["name"], rows, problems: [] };
}

function memory(room = Infinity): Store {
  const stored = new Map<string, string>();
  return {
    getItem: (name) => stored.get(name) ?? null,
    setItem: (name, value) => {
      if (value.length > room) throw new DOMException("no room", "QuotaExceededError");
      stored.set(name, value);
    },
    removeItem: (name) => stored.delete(name),
  };
}

describe("rows that were sent while others of their file were wrong", () => {
  const sent = { run: "first", table: tableOf("A", "B", "C"), rows: [0, 2] };
  const lines = (store: Store, run: string, table: Table, { place = PLACE, now = NOW } = {}) => [
    ...sentBefore(store, place, { run, table }, now).keys(),
  ];

  it("are found in another file by what is in them, whatever their line is", () => {
    const store = memory();
    expect(rememberRows(store, PLACE, sent, NOW)).to.equal(true);
    expect(lines(store, "second", tableOf("C", "B", "X", "A"))).to.deep.equal([2, 5]);
  });

  it("are not found by their own run, in another collection, or after the time of a run", () => {
    const store = memory();
    rememberRows(store, PLACE, sent, NOW);
    expect(lines(store, "first", sent.table)).to.deep.equal([]);
    expect(lines(store, "second", sent.table, { place: ["app", "0xdogs"] })).to.deep.equal([]);
    expect(lines(store, "second", sent.table, { now: new Date(NOW.getTime() + 7 * DAY) })).to.deep.equal([]);
  });

  it("say that there is no room, and forget the oldest files", () => {
    expect(rememberRows(memory(10), PLACE, sent, NOW)).to.equal(false);
    const store = memory();
    for (let index = 0; index < 30; index++) {
      const name = index.toString();
      rememberRows(store, PLACE, { run: name, table: tableOf(name), rows: [0] }, NOW);
    }
    expect(lines(store, "last", tableOf("9", "10", "29"))).to.deep.equal([3, 4]);
  });
});
