import { expect } from "chai";

import { FaultyNode, type NodeFault } from "../../../scripts/scene/faulty-node.ts";
import { useService } from "../../support/use-service.ts";

/** Milliseconds after which work must go on while one node fails. */
const SOON = 8_000;

/** Two and three nodes in front of one chain, some of which fail. */
describe("several nodes", () => {
  const moneta = useService({ start: false, per: "test" });
  let nodes: FaultyNode[] = [];
  let collection: string;

  async function start(count: number, settings: Record<string, string> = {}): Promise<void> {
    nodes = [];
    for (let index = 0; index < count; index++) nodes.push(await FaultyNode.start(moneta.node.url));
    await moneta.start({ RPC_URL: "", RPC_URLS: nodes.map(({ url }) => url).join(","), ...settings });
    collection = await moneta.api.collection({ type: "ERC721" });
    await mintsInTime();
  }
  afterEach(async () => {
    await moneta.stop();
    for (const node of nodes) await node.stop();
  });

  function breakNode(number: number, fault: NodeFault | null): void {
    const node = nodes[number - 1];
    if (node === undefined) throw new Error(`there is no node ${number.toString()}`);
    node.fault = fault;
  }

  /** @returns milliseconds that a mint took. */
  async function mintsInTime(most = SOON): Promise<number> {
    const started = performance.now();
    await moneta.api.completed("/v1/nfts", { collection_address: collection, to_address: `0x${"a1".repeat(20)}` });
    const took = performance.now() - started;
    expect(took).to.be.below(most);
    return took;
  }

  async function head(): Promise<number> {
    return Number(await moneta.node.provider.send("eth_blockNumber", []));
  }

  const faults: [string, () => NodeFault | Promise<NodeFault>][] = [
    ["dies", () => ({ kind: "dead" })],
    ["hangs", () => ({ kind: "hangs" })],
    ["is 50 blocks behind", async () => ({ kind: "behind", at: (await head()) - 50 })],
    ["answers for another chain", () => ({ kind: "other-chain" })],
    ["refuses every batch", () => ({ kind: "no-batches" })],
    ["limits the rate of calls for five minutes", () => ({ kind: "rate-limit", retryAfter: 300 })],
    ["loses its pool", () => ({ kind: "loses-pool" })],
    ["refuses transactions for good", () => ({ kind: "refuses-transactions" })],
  ];
  for (const [words, fault] of faults) {
    it(`goes on within seconds when the first of two ${words}`, async () => {
      await start(2);
      // One by one: blocks that Hardhat mines together do not name their parents.
      for (let block = 0; block < 60; block++) await moneta.node.provider.send("evm_mine", []);
      await mintsInTime();
      breakNode(1, await fault());
      const took = [await mintsInTime(), await mintsInTime()];
      console.log(`        ${took.map((one) => (one / 1_000).toFixed(1)).join(" s, ")} s`);
      expect(nodes[0]?.readsWhileBehind).to.equal(0);
      breakNode(1, null);
      await mintsInTime();
    });
  }
});
