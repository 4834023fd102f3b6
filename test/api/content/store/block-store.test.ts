import { randomBytes } from "node:crypto";

import { expect } from "chai";
import type { CID } from "multiformats/cid";

import { findFile, importContent } from "../../../../api/content/content.ts";
import { collect } from "../../../support/collect.ts";
import { openTestDatabase, type TestDatabase } from "../../../support/database.ts";
import { rejectionOf } from "../../../support/rejection.ts";
import { useFolder } from "../../../support/use-folder.ts";
import { blockOf, streamOf } from "../../support/content.ts";
import { BLOCK_STORES, openTestBlocks, type TestBlocks } from "../../support/test-blocks.ts";

const MIB = 1_048_576;

for (const kind of BLOCK_STORES) {
  describe(`block store: ${kind}`, () => {
    const folder = useFolder();
    let database: TestDatabase;
    let store: TestBlocks;
    beforeEach(async () => {
      database = await openTestDatabase();
      store = await openTestBlocks(kind, { dataDir: folder.path, database });
    });
    afterEach(async () => {
      await store.close();
      await database.remove();
    });

    const text = async (cid: CID) => Buffer.from(await store.blocks.get(cid)).toString();

    it("stores the same bytes once, also under concurrent writes of several processes", async () => {
      const { cid, bytes } = await blockOf("cat");
      const other = store.other();
      await Promise.all(Array.from({ length: 10 }, (_, at) => (at % 2 === 0 ? store.blocks : other).put(cid, bytes)));
      await store.other().put(cid, bytes);
      expect(await text(cid)).to.equal("cat");
      await store.blocks.removeUnfinished(Date.now() + 1_000);
      expect(await store.copies()).to.equal(1);
      expect(await text(cid)).to.equal("cat");
    });

    it("reads a large file, in whole and in part", async () => {
      const bytes = randomBytes(3 * MIB + 7);
      const { cid, size } = await importContent(store.blocks, streamOf(bytes));
      expect(size).to.equal(bytes.length);
      const file = await findFile(store.blocks, cid, "");
      expect(Buffer.concat(await collect(file!.read())).equals(bytes)).to.equal(true);
      for (const [offset, length] of [
        [0, 1],
        [0, bytes.length],
        [MIB - 6, 20],
        [2 * MIB + 3, MIB],
        [bytes.length - 1, 1],
        [5, 0],
      ] as const) {
        const read = Buffer.concat(await collect(file!.read(offset, length)));
        expect(read.equals(bytes.subarray(offset, offset + length)), offset.toString()).to.equal(true);
      }
    });

    it("names the CID of a missing and of a corrupt block, and repairs it when it is stored again", async () => {
      const { cid, bytes } = await blockOf("cat");
      expect(await rejectionOf(store.blocks.get(cid))).to.include({ name: "BlockMissing", cid: cid.toString() });
      await store.blocks.put(cid, bytes);
      await store.corrupt(cid, "dog");
      expect(await rejectionOf(store.blocks.get(cid))).to.include({ name: "BlockCorrupt", cid: cid.toString() });
      await store.blocks.put(cid, bytes);
      expect(await text(cid)).to.equal("cat");
    });

    it("lists every block", async () => {
      for (const word of ["a", "bb", "ccc"]) {
        const { cid, bytes } = await blockOf(word);
        await store.blocks.put(cid, bytes);
      }
      const listed = await collect(store.blocks.all());
      expect(listed.map(({ bytes }) => bytes).sort()).to.deep.equal([1, 2, 3]);
    });

    it("adopts a draft as a whole, and keeps nothing of a dropped one", async () => {
      const [kept, dropped] = [store.blocks.draft(), store.blocks.draft()];
      const { cid } = await importContent(kept, streamOf(Buffer.alloc(2_500_000, "cat")));
      await importContent(dropped, streamOf(Buffer.alloc(2_500_000, "dog")));
      expect(await store.blocks.has(cid)).to.equal(false);
      await store.blocks.adopt(kept);
      await dropped.drop();
      expect(await collect(store.blocks.all())).to.have.length(4);
      expect((await findFile(store.blocks, cid, ""))?.size).to.equal(2_500_000);
    });

    describe("quarantine", () => {
      const stored = async (word: string) => {
        const { cid, bytes } = await blockOf(word);
        await store.blocks.put(cid, bytes);
        return { cid, bytes };
      };
      const now = () => Date.now();

      it("accepts a block only if it was not stored again since, and then nobody reads it", async () => {
        const { cid, bytes } = await stored("cat");
        const quarantine = store.blocks.quarantine();
        const hourAgo = now() - 3_600_000;
        expect(await quarantine.add([cid], hourAgo)).to.deep.equal([]);
        await store.age();
        await store.blocks.put(cid, bytes);
        expect(await quarantine.add([cid], hourAgo)).to.deep.equal([]);
        await store.age();
        expect(await quarantine.add([cid], hourAgo)).to.have.length(1);
        expect(await quarantine.add([cid], hourAgo)).to.deep.equal([]);
        expect(await store.other().has(cid)).to.equal(false);
        expect(await collect(store.blocks.all())).to.deep.equal([]);
        expect((await quarantine.all()).map(String)).to.deep.equal([cid.toString()]);
        await quarantine.confirm();
        expect(await quarantine.remove()).to.deep.equal({ blocks: 1, bytes: 3 });
        expect(await store.copies()).to.equal(0);
      });

      it("can be restored by another process, and then removes nothing", async () => {
        const { cid } = await stored("cat");
        await store.age();
        const quarantine = store.blocks.quarantine();
        expect(await quarantine.add([cid], now())).to.have.length(1);
        expect(await store.other().restoreQuarantined()).to.equal(1);
        expect(await rejectionOf(quarantine.confirm())).to.include({ name: "QuarantineTakenOver" });
        expect(await quarantine.restore(cid)).to.equal(false);
        expect(await text(cid)).to.equal("cat");
        expect(await store.blocks.restoreQuarantined()).to.equal(0);
        expect(await rejectionOf(quarantine.add([cid], now()))).to.include({ name: "QuarantineTakenOver" });
      });

      // A folder has one process, and `collectMedia` restores what an earlier collection left before it begins.
      if (kind !== "files") {
        it("is restored when another collection begins, which removes only what it has quarantined itself", async () => {
          const [cat, dog] = [await stored("cat"), await stored("dog")];
          await store.age();
          const [first, second] = [store.blocks.quarantine(), store.other().quarantine()];
          expect(await first.add([cat.cid], now())).to.have.length(1);
          expect(await second.add([dog.cid], now())).to.have.length(1);
          expect(await text(cat.cid)).to.equal("cat");
          expect(await rejectionOf(first.add([cat.cid], now()))).to.include({ name: "QuarantineTakenOver" });
          expect(await rejectionOf(first.confirm())).to.include({ name: "QuarantineTakenOver" });
          expect(await first.restoreAll()).to.equal(0);
          await second.confirm();
          expect(await second.remove()).to.deep.equal({ blocks: 1, bytes: 3 });
          expect(await text(cat.cid)).to.equal("cat");
          expect(await store.blocks.has(dog.cid)).to.equal(false);
        });
      }

      it("keeps a block that was stored again meanwhile, whether it is restored or removed", async () => {
        const { cid, bytes } = await stored("cat");
        for (const end of ["restore", "remove", "late remove"] as const) {
          await store.age();
          const quarantine = store.blocks.quarantine();
          await quarantine.add([cid], now());
          if (end === "late remove") await quarantine.confirm();
          await store.other().put(cid, bytes);
          if (end === "remove") await quarantine.confirm();
          if (end === "restore") await quarantine.restoreAll();
          else await quarantine.remove();
          expect(await text(cid), end).to.equal("cat");
        }
        await store.blocks.removeUnfinished(now() + 1_000);
        expect(await text(cid)).to.equal("cat");
        expect(await store.copies()).to.equal(1);
      });
    });
  });
}
