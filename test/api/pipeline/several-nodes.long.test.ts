import { setTimeout as pause } from "node:timers/promises";

import { toQuantity } from "ethers";
import { expect } from "chai";

import type { NodeFault } from "../../../scripts/scene/faulty-node.ts";
import { startRpcProxy } from "../../../scripts/scene/rpc-proxy.ts";
import { describeOn } from "../../support/engine.ts";
import { eventually } from "../../support/eventually.ts";
import { NodesScene } from "../../support/nodes-scene.ts";
import { parkedIds } from "../../support/poison.ts";
import { scrapeOnce } from "../metrics/support.ts";
import { useService } from "../../support/use-service.ts";

/** Milliseconds after which work goes on while one node fails: far less than the 20 s after which a single call is given up. */
const SOON = 15_000;
describeOn("sqlite", "several nodes", () => {
  describe("given two nodes", () => {
    const moneta = useService({ start: false });
    const scene = new NodesScene(moneta);
    before(async () => {
      await scene.start(2);
      await scene.mine(60);
      await scene.mints();
    });
    after(() => scene.stop());
    afterEach(() => scene.ranOnce());

    const faults: [string, () => NodeFault | Promise<NodeFault>][] = [
      ["dies", () => ({ kind: "dead" })],
      ["hangs", () => ({ kind: "hangs" })],
      ["is 50 blocks behind", async () => ({ kind: "behind", at: (await scene.head()) - 50 })],
      ["refuses every batch", () => ({ kind: "no-batches" })],
      ["loses its pool", () => ({ kind: "loses-pool" })],
      ["refuses transactions for good", () => ({ kind: "refuses-transactions" })],
    ];
    for (const [words, fault] of faults) {
      it(`goes on within seconds when the first ${words}`, async () => {
        scene.fail(1, await fault());
        expect(await scene.mints()).to.be.below(SOON);
        expect(await scene.mints()).to.be.below(SOON);
        scene.fail(1, null);
        await scene.allUp();
        await scene.mints();
      });
    }

    it("goes on within seconds when the first answers for another chain", async () => {
      // The node is replaced: its connections break.
      scene.fail(1, { kind: "dead" });
      await scene.mints();
      scene.fail(1, { kind: "other-chain" });
      await scene.says("node_down");
      expect(await scene.mints()).to.be.below(SOON);
      scene.fail(1, null);
      await scene.allUp();
    });

    it("waits while the two have different blocks, and goes on when they agree", async () => {
      const from = await scene.head();
      scene.fail(1, { kind: "old-branch", from });
      const minted = scene.mints();
      let done = false;
      void minted.finally(() => (done = true));
      await scene.sent(2);
      // A reorg that has not reached both is waited for first. Then it is an error, and still nobody follows one of the two.
      await scene.says("failing", "indexer");
      await scene.mine(3);
      await scene.says("failing", "indexer");
      expect(done).to.equal(false);
      scene.fail(1, null);
      await minted;
    });

    it("keeps the preferred one for later when its limit ends in five minutes", async () => {
      scene.fail(1, { kind: "rate-limit", retryAfter: 300 });
      expect(await scene.mints()).to.be.below(SOON);
      const before = scene.node(1).count;
      await scene.mints();
      expect(scene.node(1).count).to.equal(before);
    });
  });

  describe("given three nodes", () => {
    const moneta = useService({ start: false });
    const scene = new NodesScene(moneta);
    before(async () => {
      await scene.start(3, { RPC_READ_ONLY: "2" });
      await scene.mints();
    });
    after(() => scene.stop());
    afterEach(() => scene.ranOnce());

    it("sends signed bytes to all but those that are marked", async () => {
      const counts = () => scene.nodes.map(({ calls }) => calls.get("eth_sendRawTransaction") ?? 0);
      await eventually(async () => {
        await scene.allUp();
        const before = counts();
        await scene.mints();
        const [first = 0, second = 0, third = 0] = counts().map((count, index) => count - (before[index] ?? 0));
        expect(first).to.be.above(0);
        expect(second).to.equal(0);
        // On a busy machine the third may seem to hang meanwhile. Then it gets nothing.
        return third === first ? true : undefined;
      });
    });

    it("goes on when two of them die", async () => {
      scene.fail(1, { kind: "dead" });
      scene.fail(2, { kind: "hangs" });
      expect(await scene.mints()).to.be.below(SOON);
      scene.fail(1, null);
      scene.fail(2, null);
      await scene.allUp();
    });

    it("completes what was accepted while all were dead, in whatever order they come back", async () => {
      for (const number of [1, 2, 3]) scene.fail(number, { kind: "dead" });
      const minted = [scene.mints(), scene.mints()];
      await scene.says("node_down");
      scene.fail(3, null);
      await Promise.all(minted);
      scene.fail(2, null);
      await scene.mints();
      scene.fail(1, null);
      await scene.allUp();
      await scene.mints();
    });

    it("leaves a node alone that most others contradict", async () => {
      scene.fail(1, { kind: "old-branch", from: await scene.head() });
      expect(await scene.mints()).to.be.below(SOON);
      await scene.says("node_down");
      expect(await scene.mints()).to.be.below(SOON);
      scene.fail(1, null);
      await scene.allUp();
      await scene.mints();
    });
  });

  describe("given a start", () => {
    const moneta = useService({ start: false, per: "test" });
    let scene: NodesScene;
    beforeEach(async () => {
      scene = new NodesScene(moneta);
      await scene.addNodes(2);
    });
    afterEach(() => scene.stop());

    it("starts, and goes on, when all of them are so slow that each seems to hang", async () => {
      // One after the other would be given up in less.
      const until = pause(12_000);
      for (const number of [1, 2]) scene.fail(number, { kind: "stalls", until });
      await moneta.start(scene.settings);
      await scene.begin();
      await scene.mints();
    });

    it("starts with a new database while the first node is dead", async () => {
      scene.fail(1, { kind: "dead" });
      await moneta.start(scene.settings);
      await scene.begin();
      await scene.mints();
      await scene.ranOnce();
    });

    it("shows in /metrics what following the chain found out", async () => {
      await scene.addNodes(3);
      const process = await moneta.startProcess({ ...scene.settings, METRICS_PORT: "0" });
      const port = Number(/"metricsPort":(\d+)/.exec(process.output)?.[1]);
      const divided = (value: number) =>
        scrapeOnce(port, (now) => now.value("moneta_condition", { condition: "nodes_disagree" }) === value);
      await divided(0);
      scene.fail(1, { kind: "old-branch", from: await scene.head() });
      await scene.mine(1);
      await divided(1);
      expect(await process.end("SIGTERM")).to.equal(0);
    });

    it("parks no request when the node that takes a batch over says that nothing can be sent", async () => {
      const [first, second] = [await startRpcProxy(moneta.node.url), await startRpcProxy(moneta.node.url)];
      await moneta.start({ RPC_URL: "", RPC_URLS: `${first.url},${second.url}`, MAX_FEE_GWEI: "50" });
      await scene.begin();
      // It answers what is asked before a batch, and fails while the batch is built.
      first.intercept = ({ method, params }) => {
        if (method === "eth_call" && params[1] !== "latest") throw new Error("the connection breaks");
        return undefined;
      };
      second.intercept = ({ method }) =>
        method === "eth_maxPriorityFeePerGas" ? { result: toQuantity(60n * 10n ** 9n) } : undefined;
      const minted = scene.mints();
      const words = await eventually(async () => {
        return moneta.lastErrorOf("lane 0") ?? ((await scene.word("rows")) === "ok" ? undefined : "parked");
      });
      expect(words).to.contain("MAX_FEE_GWEI");
      expect(await parkedIds(moneta.service.database, "request")).to.deep.equal([]);
      first.intercept = second.intercept = null;
      await minted;
      await scene.ranOnce();
      await Promise.all([first.stop(), second.stop()]);
    });

    it("refuses to bind a new database while the nodes serve different chains", async () => {
      scene.fail(2, { kind: "other-chain" });
      let refusal = "";
      await moneta.start(scene.settings).catch((error: unknown) => (refusal = String(error)));
      expect(refusal).to.contain("The nodes of RPC_URLS serve different chains").and.contain("chain 1337");
    });

    it("puts a node of another chain aside when the database knows its chain", async () => {
      await moneta.start(scene.settings);
      await moneta.stop();
      scene.fail(1, { kind: "other-chain" });
      await moneta.start(scene.settings);
      await scene.begin();
      await scene.mints();
      await scene.says("node_down");
    });
  });
});
