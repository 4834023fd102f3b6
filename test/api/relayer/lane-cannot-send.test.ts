import { setTimeout as wait } from "node:timers/promises";

import { expect } from "chai";
import { parseEther } from "ethers";

import { openBatches } from "../../../api/store/sending/batches.ts";
import { readLane } from "../../../api/store/sending/lanes.ts";
import { eventually } from "../../support/eventually.ts";
import { type LogLine, logLines } from "../../support/log-lines.ts";
import type { Interception } from "../../../scripts/scene/rpc-proxy.ts";
import { useService } from "../../support/use-service.ts";
import { lost, onBroadcast, tip } from "./support/broadcasts.ts";

const SETTINGS = { REPLACE_SECONDS: "1", MAX_FEE_GWEI: "50" };

interface FundsLine extends LogLine {
  address?: string;
  funds?: string;
}

describe("a lane that cannot send", () => {
  const { logger, lines } = logLines("warn");
  // Each test leaves a lane that cannot send.
  const moneta = useService({ per: "test", proxy: true, settings: SETTINGS, tuned: { rebroadcastSeconds: 1 }, logger });
  let collection: string;
  let wallet: string;

  beforeEach(async () => {
    [collection, wallet] = [await moneta.api.collection({ type: "ERC721" }), await moneta.api.wallet()];
  });

  const mint = () => moneta.api.accept("/v1/nfts", { collection_address: collection, to_address: wallet });

  /** What keeps a lane from sending; null when it can send. */
  const describeError = (lane: number) => moneta.lastErrorOf(`lane ${lane.toString()}`);
  const readyz = async () => {
    const answer = await fetch(`${moneta.service.baseUrl}/readyz`);
    return { status: answer.status, body: (await answer.json()) as object };
  };
  const inTrouble = (lane: number) => eventually(() => describeError(lane) ?? undefined);
  const well = (lane: number) => eventually(() => (describeError(lane) === null ? true : undefined));

  /** The base fee is in the newest block. */
  const withoutFees: Interception = ({ method, params }) =>
    method === "eth_getBlockByNumber" && params[0] === "latest"
      ? { error: { code: -32_000, message: "?" } }
      : undefined;

  it("reports fees above the ceiling all the time, and stays ready", async () => {
    const sent = onBroadcast(moneta, () => undefined);
    const { intercept } = moneta;
    moneta.intercept = (call) => (call.method === "eth_maxPriorityFeePerGas" ? tip(10n ** 15n) : intercept?.(call));
    const id = await mint();
    const words = await inTrouble(0);
    expect(words).to.match(/gwei, and MAX_FEE_GWEI allows 50: wait for lower fees or raise MAX_FEE_GWEI$/);
    for (let look = 0; look < 20; look++) {
      expect(describeError(0)).to.equal(words);
      await wait(100);
    }
    const others = { rows: "ok", indexer: "ok", webhooks: "ok", media: "ok", "media results": "ok" };
    const checks = { database: "ok", chain: "ok", "lane 0": "failing", ...others };
    // An answer of `readyz` is up to a second old.
    const answer = await eventually(async () => {
      const found = await readyz();
      return JSON.stringify(found).includes("failing") ? found : undefined;
    });
    expect(answer).to.deep.equal({ status: 200, body: { status: "ready", checks } });
    expect(sent, "nothing is signed").to.deep.equal([]);
    moneta.intercept = null;
    expect((await moneta.api.settled(id)).status).to.equal("completed");
    await well(0);
  });

  it("reports low funds once; without funds requests wait until the lane is funded", async () => {
    lines.length = 0;
    const address = (await readLane(moneta.service.database.read, 0))?.address ?? "";
    const low = () =>
      (lines as FundsLine[]).filter(({ msg }) => msg === "the lane is low on funds: send it the chain's own currency");

    await moneta.api.settled(await mint());
    expect(low()).to.deep.equal([]);
    // Enough for a few batches more.
    await moneta.fund(address, parseEther("0.002"));
    for (let count = 0; count < 2; count++)
      expect((await moneta.api.settled(await mint())).status).to.equal("completed");
    expect(low()).to.have.length(1);
    expect(low()[0]?.address).to.equal(address);
    expect(Number(low()[0]?.funds)).to.be.within(0.001, 0.002);

    await moneta.fund(address, parseEther("0"));
    const waiting = await mint();
    expect(await inTrouble(0)).to.equal(
      `lane ${address} has no funds: send it the chain's own currency to pay for gas`,
    );
    expect((await moneta.api.ok("GET", `/v1/requests/${waiting}`))["status"]).to.equal("pending");
    await moneta.fund(address, parseEther("100"));
    expect((await moneta.api.settled(waiting)).status).to.equal("completed");
  });

  it("recovers with the node while it only finishes its open batches", async () => {
    await moneta.stop();
    await moneta.start({ LANES: "2" });
    onBroadcast(moneta, lost);
    await eventually(async () => {
      await mint();
      return (await openBatches(moneta.service.database.read, 1))[0];
    });
    await moneta.stop();
    const { intercept } = moneta;
    moneta.intercept = (call) => withoutFees(call) ?? intercept?.(call);
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
      return describeError(0) === null ? true : undefined;
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
