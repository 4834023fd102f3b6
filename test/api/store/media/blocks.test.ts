import { expect } from "chai";

import { BlockIndex } from "../../../../api/store/media/blocks.ts";
import { describeOn } from "../../../support/engine.ts";
import { overlap, valueOf } from "../../../support/overlap.ts";
import { useTwoProcesses } from "../../../support/two-processes.ts";

const STORE = "database";
const NOW = 1_000;

describeOn("postgres", "garbage collections of two processes that begin at the same moment", () => {
  const two = useTwoProcesses();

  it("restore what the other one has quarantined, and only one goes on", async () => {
    const index = new BlockIndex(two.one, STORE, () => NOW);
    for (const cid of ["cat", "dog"]) {
      await index.announce(`object-${cid}`);
      await index.record({ cid, object: `object-${cid}`, size: 3 });
    }
    const others = new BlockIndex(two.other, STORE, () => NOW);
    const { first, second, waited } = await overlap(
      two.one,
      (trx) => {
        const open = { read: two.one.read, write: <T>(work: (within: typeof trx) => Promise<T>) => work(trx) };
        return new BlockIndex(open, STORE, () => NOW).quarantine({ id: "first", first: true }, ["cat"], NOW + 1);
      },
      () => others.quarantine({ id: "second", first: true }, ["dog"], NOW + 1),
    );
    expect([valueOf(first), valueOf(second), waited]).to.deep.equal([["cat"], ["dog"], true]);
    expect(await index.find("cat")).to.include({ cid: "cat" });
    expect(await index.quarantine({ id: "first", first: false }, ["cat"], NOW + 1)).to.equal(null);
    expect(await index.confirm("first")).to.equal(false);
    expect(await others.confirm("second")).to.equal(true);
    expect(await others.removeConfirmed()).to.deep.equal({ blocks: 1, bytes: 3 });
    expect(await index.find("cat")).to.include({ cid: "cat" });
  });
});
