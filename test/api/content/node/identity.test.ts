import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import type { loadIdentity } from "../../../../api/content/node/node.ts";
import { ipfsPackagesAreInstalled } from "../../../support/ipfs-packages.ts";
import { rejectionOf } from "../../../support/rejection.ts";
import { useFolder } from "../../../support/use-folder.ts";

describe("identity of the IPFS node", () => {
  let load: typeof loadIdentity;
  const folder = useFolder();

  before(async function () {
    if (!ipfsPackagesAreInstalled()) this.skip();
    load = (await import("../../../../api/content/node/node.ts")).loadIdentity;
  });

  it("is created once, also by processes that start at the same time", async () => {
    const file = join(folder.path, "new", "key");
    const keys = await Promise.all([load(file), load(file), load(file)]);
    for (const key of [...keys, await load(file)]) expect(key.equals(keys[0])).to.equal(true);
  });

  it("is neither replaced nor printed when the file is corrupt", async () => {
    const file = join(folder.path, "key");
    await writeFile(file, "hunter2\n");
    expect((await rejectionOf(load(file))).message)
      .to.contain(`${file} does not contain the key of an IPFS node`)
      .and.not.contain("hunter2");
    await mkdir(join(folder.path, "folder"));
    expect((await rejectionOf(load(join(folder.path, "folder")))).message).to.contain("cannot be read (EISDIR)");
  });
});
