import { expect } from "chai";

import {
  forgetOldRuns,
  importOf030,
  nameOfToken,
  newRun,
  readProgress,
  saveProgress,
} from "../../../console/import/progress.ts";

/** The browser's storage: its own properties are its keys. */
function storage() {
  const methods = {
    getItem(this: Record<string, string>, key: string) {
      return this[key] ?? null;
    },
    setItem(this: Record<string, string>, key: string, text: string) {
      this[key] = text;
    },
    removeItem(this: Record<string, string>, key: string) {
      Reflect.deleteProperty(this, key);
    },
  };
  return Object.create(methods) as Pick<Storage, "getItem" | "setItem" | "removeItem"> & Record<string, unknown>;
}

const NOW = new Date("2026-01-10T00:00:00Z");
const OLD = new Date("2026-01-03T00:00:00Z");

describe("what the browser remembers of imports", () => {
  it("names tokens apart whose pictures have the same name and another size", () => {
    const files = { image: "1.png" };
    const token = {
      ...{ source: "1.png", tokenId: null, oldId: null, supply: null, owner: null, reference: null, unlockable: null },
      ...{ metadata: {}, files },
    };
    const nameWith = (size: number) => nameOfToken(token, { user: "alice" }, () => size);
    expect(nameWith(1)).to.equal(nameWith(1));
    expect(nameWith(1)).not.to.equal(nameWith(2));
  });

  it("forgets the runs that cannot be continued any more, and keeps the others", () => {
    const store = storage();
    for (const [name, begun] of [
      ["old", OLD],
      ["new", NOW],
    ] as const)
      saveProgress(store, name, newRun(name, 1, begun));
    store.setItem("another-page", "kept");
    forgetOldRuns(store, NOW);
    expect(Object.keys(store).sort()).to.deep.equal(["another-page", "moneta-import-new"]);
    expect(readProgress(store, "new", 1, NOW)?.startedAt).to.equal(NOW.toISOString());
  });

  it("knows for six days when version 0.3.0 has imported", () => {
    const store = storage();
    expect(importOf030(store, NOW)).to.equal(null);
    for (const [name, begun] of [
      ["a", OLD],
      ["b", NOW],
    ] as const)
      store.setItem(`moneta-import-${name}`, JSON.stringify({ version: 1, startedAt: begun.toISOString() }));
    expect(importOf030(store, NOW)).to.equal(NOW.toISOString());
    store.removeItem("moneta-import-b");
    expect(importOf030(store, NOW)).to.equal(null);
  });
});
