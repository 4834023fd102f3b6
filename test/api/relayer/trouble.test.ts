import { setTimeout as wait } from "node:timers/promises";

import { expect } from "chai";
import { Transaction } from "ethers";

import { createApp } from "../../../api/commands/create-app.ts";
import type { Service } from "../../../api/context/service.ts";
import { openBatches } from "../../../api/store/batches.ts";
import { readLane } from "../../../api/store/lanes.ts";
import { ApiClient } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { startNode, type TestNode } from "../../support/node.ts";
import { type Interception, type ProxiedCall, type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";
import { startTestService, temporaryFolder } from "../../support/service.ts";

/** A tip of so many gwei. */
function tip(gwei: bigint) {
  return { result: `0x${(gwei * 10n ** 9n).toString(16)}` };
}

describe("a lane in trouble", function () {
  this.timeout(120_000);
  let node: TestNode;
  let proxy: RpcProxy;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: Service & { baseUrl: string };
  let api: ApiClient;
  let token = "";
  let collection: string;
  let wallet: string;

  beforeEach(async () => {
    node = await startNode();
    proxy = await startRpcProxy(node.url);
    folder = await temporaryFolder();
    await start();
    token = (await createApp(service, "trouble")).token;
    api = new ApiClient(service.baseUrl, token);
    [collection, wallet] = [await api.collection({ type: "ERC721" }), await api.wallet()];
  });
  afterEach(async () => {
    proxy.intercept = () => undefined;
    await service.stop();
    await proxy.stop();
    await node.stop();
    await folder.remove();
  });

  async function start(env: Record<string, string> = {}): Promise<void> {
    service = await startTestService({
      rpcUrl: proxy.url,
      dataDir: folder.path,
      env: { REBROADCAST_SECONDS: "1", REPLACE_SECONDS: "1", MAX_FEE_GWEI: "50", ...env },
    });
    api = new ApiClient(service.baseUrl, token);
  }

  const mint = () => api.accept("/v1/nfts", { collection_address: collection, to_address: wallet });

  /** What `readyz` says of a lane; null: nothing is wrong with it. */
  async function troubleOf(lane: number): Promise<string | null> {
    const answer = await fetch(`${service.baseUrl}/readyz`);
    const { errors = [] } = (await answer.json()) as { errors?: { field: string; message: string }[] };
    return errors.find(({ field }) => field === `lane ${lane.toString()}`)?.message ?? null;
  }
  const inTrouble = (lane: number) => eventually(async () => (await troubleOf(lane)) ?? undefined);
  const well = (lane: number) => eventually(async () => ((await troubleOf(lane)) === null ? true : undefined));

  const lost: Interception = ({ method, params }) =>
    method === "eth_sendRawTransaction" ? { result: Transaction.from(params[0] as string).hash } : undefined;
  const withoutFees: Interception = ({ method }) =>
    method === "eth_maxPriorityFeePerGas" ? { error: { code: -32_000, message: "?" } } : undefined;

  it("says so without a break while fees are above the ceiling, whether or not requests wait", async () => {
    proxy.intercept = ({ method }) => (method === "eth_maxPriorityFeePerGas" ? tip(60n) : undefined);
    const id = await mint();
    const words = await inTrouble(0);
    for (let look = 0; look < 60; look++) {
      expect(await troubleOf(0)).to.equal(words);
      await wait(100);
    }
    proxy.intercept = () => undefined;
    expect((await api.settled(id)).status).to.equal("completed");
    await well(0);
  });

  it("asks the node for fees no more often because many requests come", async () => {
    const expensive = (call: ProxiedCall) =>
      call.method === "eth_maxPriorityFeePerGas" ? ((asked += 1), tip(45n)) : lost(call);
    let asked = 0;
    proxy.intercept = expensive;
    // As many batches as a lane may have under way, and none can be replaced: an eighth more is above the ceiling.
    await eventually(async () => {
      await mint();
      return (await openBatches(service.database.read)).length === 4 ? true : undefined;
    });
    await wait(2_000);
    asked = 0;
    const started = performance.now();
    for (let count = 0; count < 150; count++) await mint();
    const seconds = (performance.now() - started) / 1_000;
    expect(asked / seconds, `${asked.toString()} times in ${seconds.toFixed(1)} s`).to.be.below(3);
  });

  it("that only ends what it has begun is well again when the node is", async () => {
    await service.stop();
    await start({ LANES: "2" });
    proxy.intercept = lost;
    await eventually(async () => {
      await mint();
      return (await openBatches(service.database.read, 1))[0];
    });
    await service.stop();
    proxy.intercept = (call) => withoutFees(call) ?? lost(call);
    await start();
    await inTrouble(1);
    proxy.intercept = () => undefined;
    await well(1);
  });

  it("is none of this process's business while another one has it", async () => {
    proxy.intercept = withoutFees;
    await mint();
    await inTrouble(0);
    await eventually(async () => {
      await service.database.write((trx) =>
        trx
          .updateTable("lanes")
          .set((eb) => ({
            lease_holder: "elsewhere/1/x",
            lease_fence: eb("lease_fence", "+", 1),
            lease_until: Date.now() + 10_000,
          }))
          .execute(),
      );
      return (await troubleOf(0)) === null ? true : undefined;
    });
  });

  it("is told without the node's own words, which may hold a key", async () => {
    proxy.intercept = () => ({ error: { code: -32_005, message: "limit of key S3CRET reached" } });
    await mint();
    await inTrouble(0);
    const words = await (await fetch(`${service.baseUrl}/readyz`)).text();
    expect(words).to.contain("-32005").and.not.to.contain("S3CRET");
  });

  it("keeps its lane while the node takes its time", async () => {
    proxy.intercept = async ({ method }) => {
      if (method === "eth_getCode") await wait(16_000);
      return undefined;
    };
    const id = await mint();
    let margin = Infinity;
    const ends = performance.now() + 18_000;
    while (performance.now() < ends) {
      const lane = await readLane(service.database.read, 0);
      margin = Math.min(margin, (lane?.lease_until ?? 0) - Date.now());
      await wait(200);
    }
    expect(margin).to.be.above(0);
    expect((await api.settled(id)).status).to.equal("completed");
  });
});
