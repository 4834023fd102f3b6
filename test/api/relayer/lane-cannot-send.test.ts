import { setTimeout as wait } from "node:timers/promises";

import { expect } from "chai";
import { Transaction } from "ethers";

import { openBatches } from "../../../api/store/sending/batches.ts";
import { eventually } from "../../support/eventually.ts";
import type { Interception, ProxiedCall } from "../../../scripts/scene/rpc-proxy.ts";
import { useService } from "../../support/use-service.ts";

const SETTINGS = { REBROADCAST_SECONDS: "1", REPLACE_SECONDS: "1", MAX_FEE_GWEI: "50" };

/** A tip of so many gwei. */
function tip(gwei: bigint) {
  return { result: `0x${(gwei * 10n ** 9n).toString(16)}` };
}

describe("a lane that cannot send", () => {
  // Each test leaves a lane that cannot send.
  const moneta = useService({ per: "test", proxy: true, settings: SETTINGS });
  let collection: string;
  let wallet: string;

  beforeEach(async () => {
    [collection, wallet] = [await moneta.api.collection({ type: "ERC721" }), await moneta.api.wallet()];
  });

  const mint = () => moneta.api.accept("/v1/nfts", { collection_address: collection, to_address: wallet });

  /** What keeps a lane from sending; null when it can send. */
  async function describeError(lane: number): Promise<string | null> {
    const health = await moneta.service.health();
    return health.find(({ name }) => name === `lane ${lane.toString()}`)?.lastError ?? null;
  }
  const readyz = async () => {
    const answer = await fetch(`${moneta.service.baseUrl}/readyz`);
    return { status: answer.status, body: (await answer.json()) as object };
  };
  const inTrouble = (lane: number) => eventually(async () => (await describeError(lane)) ?? undefined);
  const well = (lane: number) => eventually(async () => ((await describeError(lane)) === null ? true : undefined));

  const lost: Interception = ({ method, params }) =>
    method === "eth_sendRawTransaction" ? { result: Transaction.from(params[0] as string).hash } : undefined;
  /** The base fee is in the newest block. */
  const withoutFees: Interception = ({ method, params }) =>
    method === "eth_getBlockByNumber" && params[0] === "latest"
      ? { error: { code: -32_000, message: "?" } }
      : undefined;

  it("reports fees above the ceiling all the time, and stays ready", async () => {
    moneta.intercept = ({ method }) => (method === "eth_maxPriorityFeePerGas" ? tip(60n) : undefined);
    const id = await mint();
    const words = await inTrouble(0);
    for (let look = 0; look < 20; look++) {
      expect(await describeError(0)).to.equal(words);
      await wait(100);
    }
    const others = { rows: "ok", indexer: "ok", webhooks: "ok", media: "ok" };
    const checks = { database: "ok", chain: "ok", "lane 0": "failing", ...others };
    // An answer of `readyz` is up to a second old.
    const answer = await eventually(async () => {
      const found = await readyz();
      return JSON.stringify(found).includes("failing") ? found : undefined;
    });
    expect(answer).to.deep.equal({ status: 200, body: { status: "ready", checks } });
    moneta.intercept = null;
    expect((await moneta.api.settled(id)).status).to.equal("completed");
    await well(0);
  });

  it("does not read fees more often when many requests arrive", async () => {
    const expensive = (call: ProxiedCall) =>
      call.method === "eth_maxPriorityFeePerGas" ? ((asked += 1), tip(45n)) : lost(call);
    let asked = 0;
    moneta.intercept = expensive;
    // The lane has its maximum of unmined batches. None can be replaced, because 12.5 % more is above the ceiling.
    await eventually(async () => {
      await mint();
      return (await openBatches(moneta.service.database.read)).length === 4 ? true : undefined;
    });
    await wait(2_000);
    asked = 0;
    const started = performance.now();
    for (let count = 0; count < 150; count++) await mint();
    const seconds = (performance.now() - started) / 1_000;
    expect(asked, `${asked.toString()} times in ${seconds.toFixed(1)} s`).to.be.below(3 * (seconds + 1));
  });

  it("recovers with the node while it only finishes its open batches", async () => {
    await moneta.stop();
    await moneta.start({ LANES: "2" });
    moneta.intercept = lost;
    await eventually(async () => {
      await mint();
      return (await openBatches(moneta.service.database.read, 1))[0];
    });
    await moneta.stop();
    moneta.intercept = (call) => withoutFees(call) ?? lost(call);
    await moneta.start();
    await inTrouble(1);
    moneta.intercept = null;
    await well(1);
  });

  it("is not reported by a process while another process has its lease", async () => {
    moneta.intercept = withoutFees;
    await mint();
    await inTrouble(0);
    await eventually(async () => {
      await moneta.service.database.write((trx) =>
        trx
          .updateTable("lanes")
          .set((eb) => ({
            lease_holder: "elsewhere/1/x",
            lease_fence: eb("lease_fence", "+", 1),
            lease_until: Date.now() + 10_000,
          }))
          .execute(),
      );
      return (await describeError(0)) === null ? true : undefined;
    });
  });

  it("is reported without the node's own message, which may contain a key", async () => {
    moneta.intercept = () => ({ error: { code: -32_005, message: "limit of key S3CRET reached" } });
    await mint();
    expect(await inTrouble(0))
      .to.contain("rate")
      .and.not.to.contain("S3CRET");
    const { status, body } = await eventually(async () => {
      const answer = await readyz();
      return JSON.stringify(answer).includes("failing") ? answer : undefined;
    });
    expect(status).to.equal(200);
    expect(body)
      .to.deep.include({ status: "ready" })
      .and.have.property("checks")
      .that.includes({ chain: "rate_limited" });
  });
});
