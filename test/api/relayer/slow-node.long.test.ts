import { setTimeout as wait } from "node:timers/promises";

import { expect } from "chai";

import { readLane } from "../../../api/store/sending/lanes.ts";
import { useService } from "../../support/use-service.ts";

/** Milliseconds that the node takes to answer: longer than the lease of a lane. */
const SLOW = 16_000;

describe("a lane whose node is slow", () => {
  // The node is slow for all who use it.
  const moneta = useService({ proxy: true });

  it("keeps its lease", async () => {
    const { api } = moneta;
    const [collection, wallet] = [await api.collection({ type: "ERC721" }), await api.wallet()];
    moneta.intercept = async ({ method }) => {
      if (method === "eth_getCode") await wait(SLOW);
      return undefined;
    };
    const id = await api.accept("/v1/nfts", { collection_address: collection, to_address: wallet });
    let margin = Infinity;
    const ends = performance.now() + SLOW + 2_000;
    while (performance.now() < ends) {
      const lane = await readLane(moneta.service.database.read, 0);
      margin = Math.min(margin, (lane?.lease_until ?? 0) - Date.now());
      await wait(200);
    }
    expect(margin).to.be.above(0);
    expect((await api.settled(id)).status).to.equal("completed");
  });
});
