import { expect } from "chai";
import type { JsonRpcProvider } from "ethers";

import { anvilBinary } from "../../../scripts/scene/anvil.ts";
import { NodeProcess } from "../../../scripts/scene/node.ts";
import { temporaryFolder, type TemporaryFolder } from "../../support/folder.ts";

const SENDERS = 4;

/** Accounts of the node that send transactions without a pause. */
class Senders {
  #stopped = false;
  readonly #all: Promise<number>[];

  constructor(provider: JsonRpcProvider) {
    this.#all = Array.from({ length: SENDERS }, (_, account) => this.#send(provider, account));
  }

  async #send(provider: JsonRpcProvider, account: number): Promise<number> {
    const signer = await provider.getSigner(account);
    let sent = 0;
    for (; !this.#stopped; sent++) await signer.sendUncheckedTransaction({ to: signer.address, value: 1 });
    return sent;
  }

  /** @returns how many transactions were sent. */
  async stop(): Promise<number> {
    this.#stopped = true;
    return (await Promise.all(this.#all)).reduce((sum, sent) => sum + sent, 0);
  }
}

/** The numbers of the newest blocks that are missing, or whose parent is not the block before. */
async function faultyBlocks(provider: JsonRpcProvider, count: number): Promise<number[]> {
  const head = await provider.getBlockNumber();
  const numbers = Array.from({ length: Math.min(count, head + 1) }, (_, index) => head - index).reverse();
  const blocks = await Promise.all(numbers.map((number) => provider.getBlock(number)));
  return numbers.filter((_, index) => index > 0 && blocks[index]?.parentHash !== blocks[index - 1]?.hash);
}

describe("an Anvil in a process of its own", () => {
  let folder: TemporaryFolder;
  let node: NodeProcess;

  before(async function () {
    if (anvilBinary() === null) this.skip();
    folder = await temporaryFolder();
    node = await NodeProcess.start("anvil", folder.path);
  });
  after(async () => {
    if (anvilBinary() === null) return;
    await node.stop();
    await folder.remove();
  });

  it("mines a transaction without being asked", async () => {
    const signer = await node.provider.getSigner(0);
    const receipt = await (await signer.sendTransaction({ to: signer.address, value: 1 })).wait();
    expect(receipt?.status).to.equal(1);
  });

  it("has a whole chain after reorgs while transactions arrive", async () => {
    const senders = new Senders(node.provider);
    for (let reorgs = 0; reorgs < 60; reorgs++) {
      while ((await node.provider.getBlockNumber()) < 5) await node.mine();
      const depth = 1 + (reorgs % 3);
      await node.reorg(depth);
      expect(await faultyBlocks(node.provider, 12), `after reorg ${reorgs.toString()}`).to.deep.equal([]);
    }
    expect(await senders.stop()).to.be.greaterThan(60);
  });

  it("has the same chain after a restart, and mines", async () => {
    const head = await node.provider.getBlock("latest");
    await node.restart(() => Promise.resolve());
    expect((await node.provider.getBlock(head?.number ?? 0))?.hash).to.equal(head?.hash);
    const signer = await node.provider.getSigner(1);
    expect((await (await signer.sendTransaction({ to: signer.address, value: 1 })).wait())?.status).to.equal(1);
    expect(await faultyBlocks(node.provider, 12)).to.deep.equal([]);
  });
});
