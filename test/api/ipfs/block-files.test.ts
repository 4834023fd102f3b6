import { readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";
import { CID } from "multiformats/cid";
import * as raw from "multiformats/codecs/raw";
import { sha256 } from "multiformats/hashes/sha2";

import { BlockFiles } from "../../../api/ipfs/block-files.ts";
import { collect } from "../../support/collect.ts";
import { temporaryFolder } from "../../support/folder.ts";

async function block(text: string): Promise<{ cid: CID; bytes: Uint8Array }> {
  const bytes = Buffer.from(text);
  return { cid: CID.createV1(raw.code, await sha256.digest(bytes)), bytes };
}

describe("BlockFiles", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let blocks: BlockFiles;
  beforeEach(async () => {
    folder = await temporaryFolder();
    blocks = new BlockFiles(folder.path);
  });
  afterEach(() => folder.remove());

  const files = async () =>
    (await readdir(folder.path, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  const refusal = (work: Promise<unknown>) =>
    work.then(
      () => null,
      (error: unknown) => error,
    );

  it("stores the same bytes once, also under concurrent writes", async () => {
    const { cid, bytes } = await block("cat");
    await Promise.all(Array.from({ length: 20 }, () => blocks.put(cid, bytes)));
    await new BlockFiles(folder.path).put(cid, bytes);
    expect(await files()).to.have.length(1);
    expect(Buffer.from(await blocks.get(cid)).toString()).to.equal("cat");
  });

  it("names the CID of a missing and of a corrupt block", async () => {
    const { cid, bytes } = await block("cat");
    expect(await refusal(blocks.get(cid))).to.include({ name: "BlockMissing", cid: cid.toString() });
    await blocks.put(cid, bytes);
    const [file = ""] = await files();
    await writeFile(file, "dog");
    expect(await refusal(blocks.get(cid))).to.include({ name: "BlockCorrupt", cid: cid.toString() });
    expect((await refusal(blocks.get(cid)))?.toString()).to.contain(cid.toString());
  });

  it("repairs a corrupt block when the same content is stored again", async () => {
    const { cid, bytes } = await block("cat");
    await blocks.put(cid, bytes);
    const [file = ""] = await files();
    await writeFile(file, "dog");
    await blocks.put(cid, bytes);
    expect((await readFile(file)).toString()).to.equal("cat");
  });

  it("leaves no draft when a write fails", async () => {
    const { cid } = await block("cat");
    // Makes the same call fail that fails on a full disk.
    const unwritable = null as unknown as Uint8Array;
    expect(await refusal(blocks.put(cid, unwritable))).to.include({ name: "TypeError" });
    expect(await files()).to.deep.equal([]);
  });

  it("does not report an unreadable block as missing", async () => {
    const { cid, bytes } = await block("cat");
    await blocks.put(cid, bytes);
    const [file = ""] = await files();
    const other = new BlockFiles(file);
    expect(await refusal(other.has(cid))).to.include({ code: "ENOTDIR" });
  });

  describe("quarantine", () => {
    const old = new Date(Date.now() - 120_000);
    const minuteAgo = () => Date.now() - 60_000;

    it("accepts a block only if it was not stored again since", async () => {
      const { cid, bytes } = await block("cat");
      await blocks.put(cid, bytes);
      const quarantine = blocks.quarantine();
      expect(await quarantine.add(cid, minuteAgo())).to.equal(false);
      const [file = ""] = await files();
      await utimes(file, old, old);
      await blocks.put(cid, bytes);
      expect((await stat(file)).mtimeMs).to.be.greaterThan(minuteAgo());
      expect(await quarantine.add(cid, minuteAgo())).to.equal(false);
      await utimes(file, old, old);
      expect(await quarantine.add(cid, minuteAgo())).to.equal(true);
      expect(await quarantine.add(cid, minuteAgo())).to.equal(false);
      expect(await blocks.has(cid)).to.equal(false);
      expect(await collect(blocks.all())).to.deep.equal([]);
      expect(await quarantine.remove(cid)).to.equal(3);
      expect(await quarantine.remove(cid)).to.equal(null);
      await quarantine.close();
      expect(await files()).to.deep.equal([]);
    });

    it("can be restored by another process, and then deletes nothing", async () => {
      const { cid, bytes } = await block("cat");
      await blocks.put(cid, bytes);
      const quarantine = blocks.quarantine();
      expect(await quarantine.add(cid, Infinity)).to.equal(true);
      expect(await new BlockFiles(folder.path).restoreQuarantined()).to.equal(1);
      expect(await quarantine.remove(cid)).to.equal(null);
      expect(await quarantine.restore(cid)).to.equal(false);
      expect(Buffer.from(await blocks.get(cid)).toString()).to.equal("cat");
      expect(await blocks.restoreQuarantined()).to.equal(0);
    });

    it("keeps a copy that was stored again meanwhile", async () => {
      const { cid, bytes } = await block("cat");
      await blocks.put(cid, bytes);
      const quarantine = blocks.quarantine();
      await quarantine.add(cid, Infinity);
      await blocks.put(cid, bytes);
      expect(await quarantine.restoreAll()).to.equal(1);
      expect(await files()).to.have.length(1);
      const again = blocks.quarantine();
      await again.add(cid, Infinity);
      await blocks.put(cid, bytes);
      expect(await again.remove(cid)).to.equal(3);
      expect(Buffer.from(await blocks.get(cid)).toString()).to.equal("cat");
    });
  });

  it("lists every block", async () => {
    for (const text of ["a", "bb", "ccc"]) {
      const { cid, bytes } = await block(text);
      await blocks.put(cid, bytes);
    }
    const listed = await collect(blocks.all());
    expect(listed.map(({ bytes }) => bytes).sort()).to.deep.equal([1, 2, 3]);
    expect(await collect(new BlockFiles(join(folder.path, "none")).all())).to.deep.equal([]);
  });
});
