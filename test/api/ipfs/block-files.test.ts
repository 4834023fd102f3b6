import { readdir, readFile, writeFile } from "node:fs/promises";
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
