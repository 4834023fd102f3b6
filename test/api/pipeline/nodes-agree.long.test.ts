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

const CONTRADICTION = "the nodes contradict each other about block";

describeOn("sqlite", "blocks become final when the nodes agree", () => {
  let scene: NodesScene;
  // Before the fixture gives its node back.
  afterEach(() => scene.minesOnlyTransactions());
  const moneta = useService({ settings: WITHOUT_PROOF, start: false, per: "test" });
  const { api } = moneta;
  beforeEach(() => {
    scene = new NodesScene(moneta);
  });
  afterEach(() => scene.stop());

  const begin = async (nodes: number, settings: Record<string, string>) => {
    await scene.addNodes(nodes);
    if ("CONFIRMATIONS" in settings) await scene.minesAllTheTime();
    await moneta.start({ ...scene.settings, ...settings });
    await scene.begin();
    await scene.mints();
  };
  const accept = () => api.accept("/v1/nfts", { collection_address: scene.collection, to_address: RECIPIENT });
  const completes = async (id: string) => {
    expect((await api.settled(id)).status).to.equal("completed");
  };
  const forgets = async (of: "everything" | "transfers" = "everything"): Promise<NodeFault> => ({
    kind: "forgets-logs",
    above: await scene.head(),
    of,
  });
  const invents = async (): Promise<NodeFault> => ({ kind: "invents-logs", above: await scene.head() });

  describe("given two nodes", () => {
    for (const [name, settings] of [
      ["with one confirmation", {}],
      ["with more", DEEP],
    ] as const) {
      for (const [words, number] of [
        ["the one that is read", 1],
        ["the other one", 2],
      ] as const) {
        it(`waits ${name} while ${words} forgets all logs, and goes on when they agree`, async () => {
          await begin(2, settings);
          scene.fail(number, await forgets());
          let done = false;
          // A promise in an array, so that it is not awaited.
          const minted = [scene.mints().finally(() => (done = true))];
          await scene.waits(CONTRADICTION);
          expect(done).to.equal(false);
          scene.fail(number, null);
          await Promise.all(minted);
          await scene.ranOnce();
        });
      }
    }

    it("waits while the second invents a log, also after a restart in the middle", async () => {
      await begin(2, DEEP);
      scene.fail(2, await invents());
      const id = await accept();
      await scene.waits(CONTRADICTION);
      await moneta.restart({ ...scene.settings, ...DEEP });
      await scene.waits(CONTRADICTION);
      expect(await api.ok("GET", `/v1/requests/${id}`)).to.include({ status: "processing" });
      scene.fail(2, null);
      await completes(id);
    });

    it("believes neither of the two when one of them dies in the middle", async () => {
      await begin(2, DEEP);
      scene.fail(1, await forgets());
      const id = await accept();
      await scene.waits(CONTRADICTION);
      scene.fail(2, { kind: "dead" });
      await scene.says("node_down");
      await scene.waits(CONTRADICTION);
      for (const number of [1, 2]) scene.fail(number, null);
      await completes(id);
    });

    it("compares what is on the chain after a reorg between reading and comparing", async () => {
      await begin(2, DEEP);
      const { provider } = moneta.node;
      await scene.minesOnlyTransactions();
      const snapshot: unknown = await provider.send("evm_snapshot", []);
      const id = await accept();
      await eventually(async () => (await api.ok("GET", `/v1/requests/${id}`))["block_number"] ?? undefined);
      await provider.send("evm_revert", [snapshot]);
      await scene.minesAllTheTime();
      await completes(id);
      await scene.mints();
    });

    it("waits for the second node when RPC_AGREEMENT is 2 and it is down", async () => {
      await begin(2, { RPC_AGREEMENT: "2" });
      scene.fail(2, { kind: "dead" });
      const minted = [scene.mints()];
      await scene.waits("RPC_AGREEMENT asks for 2 nodes that agree, and there are 1 now");
      scene.fail(2, null);
      await Promise.all(minted);
      await scene.ranOnce();
    });
  });

  describe("given three nodes", () => {
    for (const [words, number, fault] of [
      ["the one that is read forgets all logs", 1, () => forgets()],
      ["the one that is read forgets a log of each mint", 1, () => forgets("transfers")],
      ["the second forgets a log of each mint", 2, () => forgets("transfers")],
      ["the one that is read invents logs, and reads it again when it has agreed for 30 seconds", 1, invents],
    ] as const) {
      it(`goes on without the one that differs when ${words}`, async () => {
        await begin(3, DEEP);
        scene.fail(number, await fault());
        await scene.mints();
        await scene.says("node_down");
        await scene.mints();
        const { nfts } = await api.ok<{ nfts: { owner: string }[] }>("GET", `/v1/collections/${scene.collection}`);
        for (const { owner } of nfts) expect(owner.toLowerCase()).to.equal(RECIPIENT);
        await scene.ranOnce();
        if (fault !== invents) return;
        scene.fail(number, null);
        await scene.allUp();
        await scene.mints();
        await scene.ranOnce();
      });
    }
  });
});
