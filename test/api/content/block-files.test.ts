import { readdir } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { BlockFiles, DiskReserve } from "../../../api/content/block-files.ts";
import { collect } from "../../support/collect.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { useFolder } from "../../support/use-folder.ts";
import { blockOf } from "../support/content.ts";

describe("BlockFiles", () => {
  const folder = useFolder();
  let blocks: BlockFiles;
  beforeEach(() => {
    blocks = new BlockFiles(folder.path);
  });

  const files = async () =>
    (await readdir(folder.path, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));

  it("leaves no draft when a write fails", async () => {
    const { cid } = await blockOf("cat");
    // Makes the same call fail that fails on a full disk.
    const unwritable = { length: 3 } as unknown as Uint8Array;
    expect(await rejectionOf(blocks.put(cid, unwritable))).to.include({ name: "TypeError" });
    expect(await files()).to.deep.equal([]);
  });

  it("does not report an unreadable block as missing", async () => {
    const { cid, bytes } = await blockOf("cat");
    await blocks.put(cid, bytes);
    const [file = ""] = await files();
    const other = new BlockFiles(file);
    expect(await rejectionOf(other.has(cid))).to.include({ code: "ENOTDIR" });
  });

  it("lists no block of a folder that does not exist", async () => {
    expect(await collect(new BlockFiles(join(folder.path, "none")).all())).to.deep.equal([]);
  });

  describe("given a disk with little room", () => {
    const KEPT = 50;
    let free: number;
    beforeEach(() => {
      free = KEPT + 100;
      const space = new DiskReserve(folder.path, KEPT, () => Promise.resolve({ used: 0, free }));
      blocks = new BlockFiles(folder.path, space);
    });
    const store = async (into: BlockFiles, size: number, fill: string) => {
      const { cid, bytes } = await blockOf(fill.repeat(size));
      return into.put(cid, bytes).then(
        () => null,
        (error: unknown) => error,
      );
    };

    it("stores no block that would leave less than what must stay free", async () => {
      expect(await store(blocks, 101, "a")).to.include({ name: "BlockStoreUnavailable" });
      expect(await files()).to.deep.equal([]);
      expect(await store(blocks, 100, "b")).to.equal(null);
      free -= 100;
      expect(await store(blocks.draft(), 1, "c")).to.include({ name: "BlockStoreUnavailable" });
    });

    it("gives no room away that a draft expects, until the draft has used it or ends", async () => {
      const [first, second] = [blocks.draft(), blocks.draft()];
      await first.expect(60);
      expect(await rejectionOf(second.expect(60))).to.include({ name: "BlockStoreUnavailable" });
      expect(await store(second, 41, "a")).to.include({ name: "BlockStoreUnavailable" });
      expect(await store(first, 60, "b")).to.equal(null);
      free -= 60;
      expect(await store(second, 40, "c")).to.equal(null);
      free += 60;
      await first.drop();
      const third = blocks.draft();
      await third.expect(100);
      await third.drop();
      await second.expect(100);
    });

    it("gives room back when the disk cannot be looked at, or a block cannot be written", async () => {
      const space = new DiskReserve(folder.path, KEPT, () => Promise.reject(new Error("no such folder")));
      expect(await rejectionOf(space.reserve(100))).to.include({ message: "no such folder" });
      const unwritable = { length: 100 } as unknown as Uint8Array;
      expect(await rejectionOf(blocks.put((await blockOf("a")).cid, unwritable))).to.include({ name: "TypeError" });
      expect(await store(blocks, 100, "b")).to.equal(null);
    });
  });
});
