import { expect } from "chai";
import type { CID } from "multiformats/cid";
import pino from "pino";

import { BlockFiles } from "../../../../api/content/block-files.ts";
import { importContent } from "../../../../api/content/content.ts";
import { describePinError, pinAtKubo, Pinner } from "../../../../api/content/copy/pinner.ts";
import { leaseTimes } from "../../../../api/shared/lease.ts";
import { Signal } from "../../../../api/shared/signal.ts";
import { addPin, removePin } from "../../../../api/store/media/pins.ts";
import { poison } from "../../../../scripts/scene/poison.ts";
import { openTestDatabase } from "../../../support/database.ts";
import { eventually } from "../../../support/eventually.ts";
import { contentIds } from "../../support/hosted-content.ts";
import { FakeKubo } from "../../../support/kubo.ts";
import { useFolder } from "../../../support/use-folder.ts";
import { streamOf } from "../../support/content.ts";

describe("pinAtKubo", () => {
  let kubo: FakeKubo;
  const folder = useFolder();
  let blocks: BlockFiles;
  let cid: CID;

  beforeEach(async () => {
    kubo = new FakeKubo();
    await kubo.start();
    blocks = new BlockFiles(folder.path);
    ({ cid } = await importContent(blocks, streamOf(Buffer.alloc(2_500_000, "cat"))));
  });
  afterEach(() => kubo.stop());

  const refusal = (stop = new AbortController().signal) =>
    pinAtKubo(kubo.rpc, blocks, cid.toString(), stop).then(() => "pinned", describePinError);

  it("uploads every block under its own CID, then pins the root", async () => {
    await pinAtKubo(kubo.rpc, blocks, cid.toString(), new AbortController().signal);
    expect([...kubo.blocks.keys()]).to.include(cid.toString());
    expect([...kubo.blocks.values()].reduce((sum, { length }) => sum + length, 0)).to.be.greaterThan(2_500_000);
    expect(kubo.blocks.size).to.equal(4);
    expect([...kubo.pins]).to.deep.equal([cid.toString()]);
  });

  it("names what the node did wrong", async () => {
    const strange =
      "the server at IPFS_PIN_RPC does not answer like Kubo: set IPFS_PIN_RPC to the RPC address of a Kubo node";
    for (const [mood, words] of [
      ["error", "the IPFS node answered 500: datastore: no space left"],
      ["garbage", strange],
      ["wrong", strange],
      ["endless", strange],
    ] as const) {
      kubo.mood = mood;
      expect(await refusal(), mood).to.equal(words);
    }
    await kubo.stop();
    expect(await refusal()).to.equal("connection failed (ECONNREFUSED)");
  });

  it("gives up a node that does not answer when it is aborted", async () => {
    kubo.mood = "hanging";
    expect(await refusal(AbortSignal.timeout(50))).to.equal("the IPFS node did not answer in time");
  });

  it("counts content as pinned only when the node confirms it", async () => {
    kubo.pinsNothing = true;
    expect(await refusal()).to.equal(`the IPFS node did not pin ${cid.toString()}`);
  });

  it("names the block that is missing in its own store", async () => {
    await blocks.quarantine().add([cid], Infinity);
    expect(await refusal()).to.equal(`block ${cid.toString()} is missing`);
  });
});

describe("Pinner", () => {
  const folder = useFolder();

  it("removes the pins beside one that cannot be removed, names it, and removes it once the cause is gone", async () => {
    const [kubo, database] = [new FakeKubo(), await openTestDatabase()];
    await kubo.start();
    const [refused = "", ...good] = await contentIds(20);
    const clock = { now: 1_000_000 };
    await database.write(async (trx) => {
      for (const cid of [refused, ...good]) await addPin(trx, cid, 1);
      // Tried before, so each has to be removed at the node.
      await trx.updateTable("pins").set({ fence: 1 }).execute();
      for (const cid of [refused, ...good]) await removePin(trx, cid);
    });
    const cure = await poison(database, { table: "pins", event: "delete", when: `old.cid = '${refused}'` });
    const [wake, stop] = [new Signal(), new AbortController()];
    const pinner = new Pinner({
      ...{ database, blocks: new BlockFiles(folder.path), rpc: kubo.rpc, wake, leaseTimes: leaseTimes(60) },
      logger: pino({ level: "silent" }),
      now: () => clock.now,
    });
    const running = pinner.run(stop.signal);
    const left = async () => (await database.read.selectFrom("pins").select("cid").execute()).map(({ cid }) => cid);
    try {
      await eventually(() => Promise.resolve(pinner.lastError?.includes(refused) === true ? true : undefined));
      await eventually(async () => ((await left()).length === 1 ? true : undefined));
      expect(await left()).to.deep.equal([refused]);
      await cure();
      clock.now += 60_000;
      wake.notify();
      await eventually(async () => ((await left()).length === 0 ? true : undefined));
    } finally {
      stop.abort();
      await running;
      await database.remove();
      await kubo.stop();
    }
  });
});
