import { expect } from "chai";

import { BlockFiles } from "../../../api/ipfs/block-files.ts";
import { importContent } from "../../../api/ipfs/content.ts";
import { pinAtKubo, describePinError } from "../../../api/media/pin.ts";
import { FakeKubo } from "../../support/kubo.ts";
import { temporaryFolder } from "../../support/folder.ts";

describe("pinAtKubo", () => {
  let kubo: FakeKubo;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let blocks: BlockFiles;

  beforeEach(async () => {
    kubo = new FakeKubo();
    await kubo.start();
    folder = await temporaryFolder();
    blocks = new BlockFiles(folder.path);
  });
  afterEach(async () => {
    await kubo.stop();
    await folder.remove();
  });

  const content = async function* () {
    await Promise.resolve();
    yield Buffer.alloc(2_500_000, "cat");
  };
  const refusal = (name: string, stop = new AbortController().signal) =>
    pinAtKubo(kubo.rpc, blocks, name, stop).then(() => "pinned", describePinError);

  it("uploads every block under its own CID, then pins the root", async () => {
    const { cid } = await importContent(blocks, content());
    await pinAtKubo(kubo.rpc, blocks, cid.toString(), new AbortController().signal);
    expect([...kubo.blocks.keys()]).to.include(cid.toString());
    expect([...kubo.blocks.values()].reduce((sum, { length }) => sum + length, 0)).to.be.greaterThan(2_500_000);
    expect(kubo.blocks.size).to.equal(4);
    expect([...kubo.pins]).to.deep.equal([cid.toString()]);
  });

  it("names what the node did wrong", async () => {
    const { cid } = await importContent(blocks, content());
    const strange =
      "the server at IPFS_PIN_RPC does not answer like Kubo: set IPFS_PIN_RPC to the RPC address of a Kubo node";
    for (const [mood, words] of [
      ["error", "the IPFS node answered 500: datastore: no space left"],
      ["garbage", strange],
      ["wrong", strange],
      ["endless", strange],
    ] as const) {
      kubo.mood = mood;
      expect(await refusal(cid.toString()), mood).to.equal(words);
    }
    await kubo.stop();
    expect(await refusal(cid.toString())).to.equal("connection failed (ECONNREFUSED)");
  });

  it("gives up a node that does not answer when it is aborted", async () => {
    const { cid } = await importContent(blocks, content());
    kubo.mood = "hanging";
    expect(await refusal(cid.toString(), AbortSignal.timeout(50))).to.equal("the IPFS node did not answer in time");
  });

  it("counts content as pinned only when the node confirms it", async () => {
    const { cid } = await importContent(blocks, content());
    kubo.pinsNothing = true;
    expect(await refusal(cid.toString())).to.equal(`the IPFS node did not pin ${cid.toString()}`);
  });

  it("names the block that is missing in its own store", async () => {
    const { cid } = await importContent(blocks, content());
    await blocks.quarantine().add([cid], Infinity);
    expect(await refusal(cid.toString())).to.equal(`block ${cid.toString()} is missing`);
  });
});
