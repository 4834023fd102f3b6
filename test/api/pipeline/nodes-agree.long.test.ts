import { expect } from "chai";

import type { NodeFault } from "../../../scripts/scene/faulty-node.ts";
import { describeOn } from "../../support/engine.ts";
import { eventually } from "../../support/eventually.ts";
import { NodesScene, RECIPIENT } from "../../support/nodes-scene.ts";
import { useService } from "../../support/use-service.ts";

/** So that blocks are stored before they are final. */
const DEEP = { CONFIRMATIONS: "3" };
/** The receipts would show which node lies about logs before the nodes are compared. */
const WITHOUT_PROOF = { VERIFY_RECEIPTS: "false" };

describeOn("sqlite", "blocks become final when the nodes agree", () => {
  describe("given two nodes", () => {
    let scene: NodesScene;
    afterEach(() => scene.minesOnlyTransactions());
    const moneta = useService({ settings: WITHOUT_PROOF, start: false, per: "test" });
    beforeEach(async () => {
      scene = new NodesScene(moneta);
      await scene.addNodes(2);
    });
    afterEach(() => scene.stop());

    const begin = async (settings: Record<string, string>) => {
      if ("CONFIRMATIONS" in settings) await scene.minesAllTheTime();
      await moneta.start({ ...scene.settings, ...settings });
      await scene.begin();
      await scene.mints();
    };
    /** Mints, and waits until the service says why that is not final. */
    const disputed = async () => {
      let done = false;
      const minted = scene.mints().finally(() => (done = true));
      await scene.waits("the nodes contradict each other about block");
      expect(done).to.equal(false);
      return minted;
    };

    for (const [name, settings] of [
      ["with one confirmation", {}],
      ["with more", DEEP],
    ] as const) {
      for (const [words, number] of [
        ["the one that is read", 1],
        ["the other one", 2],
      ] as const) {
        it(`waits ${name} while ${words} forgets all logs, and goes on when they agree`, async () => {
          await begin(settings);
          scene.fail(number, { kind: "forgets-logs", above: await scene.head(), of: "everything" });
          // Promises in arrays, so that they are not awaited.
          const minted = [disputed()];
          await scene.waits("the nodes contradict each other about block");
          scene.fail(number, null);
          await Promise.all(minted);
          await scene.ranOnce();
        });
      }
    }

    it("waits while the second invents a log, also after a restart in the middle", async () => {
      await begin(DEEP);
      scene.fail(2, { kind: "invents-logs", above: await scene.head() });
      const id = await moneta.api.accept("/v1/nfts", { collection_address: scene.collection, to_address: RECIPIENT });
      await scene.waits("the nodes contradict each other about block");
      await moneta.restart({ ...scene.settings, ...DEEP });
      await scene.waits("the nodes contradict each other about block");
      expect((await moneta.api.ok("GET", `/v1/requests/${id}`))["status"]).to.equal("processing");
      scene.fail(2, null);
      expect((await moneta.api.settled(id)).status).to.equal("completed");
    });

    it("believes neither of the two when one of them dies in the middle", async () => {
      await begin(DEEP);
      scene.fail(1, { kind: "forgets-logs", above: await scene.head(), of: "everything" });
      const id = await moneta.api.accept("/v1/nfts", { collection_address: scene.collection, to_address: RECIPIENT });
      await scene.waits("the nodes contradict each other about block");
      scene.fail(2, { kind: "dead" });
      await scene.says("node_down");
      await scene.waits("the nodes contradict each other about block");
      scene.fail(1, null);
      scene.fail(2, null);
      expect((await moneta.api.settled(id)).status).to.equal("completed");
    });

    it("compares what is on the chain after a reorg between reading and comparing", async () => {
      await begin(DEEP);
      const { provider } = moneta.node;
      await provider.send("evm_setIntervalMining", [0]);
      const snapshot: unknown = await provider.send("evm_snapshot", []);
      const id = await moneta.api.accept("/v1/nfts", { collection_address: scene.collection, to_address: RECIPIENT });
      await eventually(async () => {
        const { block_number: block } = await moneta.api.ok("GET", `/v1/requests/${id}`);
        return block === null ? undefined : true;
      });
      await provider.send("evm_revert", [snapshot]);
      await scene.minesAllTheTime();
      expect((await moneta.api.settled(id)).status).to.equal("completed");
      await scene.mints();
    });

    it("waits for the second node when RPC_AGREEMENT is 2 and it is down", async () => {
      await begin({ RPC_AGREEMENT: "2" });
      scene.fail(2, { kind: "dead" });
      const minted = [scene.mints()];
      await scene.waits("RPC_AGREEMENT asks for 2 nodes that agree, and there are 1 now");
      scene.fail(2, null);
      await Promise.all(minted);
      await scene.ranOnce();
    });
  });

  describe("given three nodes", () => {
    let scene: NodesScene;
    afterEach(() => scene.minesOnlyTransactions());
    const moneta = useService({ settings: WITHOUT_PROOF, start: false, per: "test" });
    beforeEach(async () => {
      scene = new NodesScene(moneta);
      await scene.addNodes(3);
      await scene.minesAllTheTime();
      await moneta.start({ ...scene.settings, ...DEEP });
      await scene.begin();
      await scene.mints();
    });
    afterEach(() => scene.stop());

    const outvoted = async (number: number, fault: (above: number) => NodeFault) => {
      scene.fail(number, fault(await scene.head()));
      await scene.mints();
      await scene.says("node_down");
      await scene.mints();
      const { nfts } = await moneta.api.ok<{ nfts: { owner: string }[] }>("GET", `/v1/collections/${scene.collection}`);
      for (const { owner } of nfts) expect(owner.toLowerCase()).to.equal(RECIPIENT);
      await scene.ranOnce();
    };

    for (const [words, number, fault] of [
      ["the one that is read forgets all logs", 1, (above) => ({ kind: "forgets-logs", of: "everything", above })],
      [
        "the one that is read forgets a log of each mint",
        1,
        (above) => ({ kind: "forgets-logs", of: "transfers", above }),
      ],
      ["the second forgets a log of each mint", 2, (above) => ({ kind: "forgets-logs", of: "transfers", above })],
    ] satisfies [string, number, (above: number) => NodeFault][]) {
      it(`goes on without the one that is outvoted when ${words}`, () => outvoted(number, fault));
    }

    it("goes on without the one that is read when it invents logs, and reads it again when it has agreed for 30 seconds", async () => {
      await outvoted(1, (above) => ({ kind: "invents-logs", above }));
      scene.fail(1, null);
      await scene.allUp();
      await scene.mints();
      await scene.ranOnce();
    });
  });
});
