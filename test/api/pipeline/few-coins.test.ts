import { expect } from "chai";

import { useService } from "../../support/use-service.ts";

describe("a burst of mints that the lane cannot pay for at once", () => {
  // A node of its own: the lane has few coins, and the price of gas must not follow from other tests.
  const moneta = useService({ node: "deployed", proxy: true });
  const { api } = moneta;

  it("is sent in smaller transactions", async () => {
    const to = await api.wallet();
    const collection = await api.collection({ type: "ERC721" });
    const lane = await moneta.service.database.read.selectFrom("lanes").select("address").executeTakeFirstOrThrow();
    const before = await moneta.provider.getBalance(lane.address);
    const { baseFeePerGas } = (await moneta.provider.getBlock("latest")) ?? {};
    const tip = BigInt((await moneta.provider.send("eth_maxPriorityFeePerGas", [])) as string);
    const { promise: accepted, resolve: goOn } = Promise.withResolvers<undefined>();
    moneta.intercept = ({ method }) => (method === "eth_getBalance" ? accepted : undefined);
    const ids = await Promise.all(
      Array.from({ length: 100 }, () => api.accept("/v1/nfts", { collection_address: collection, to_address: to })),
    );
    // All of them in one transaction need a limit of 1.9 million gas.
    await moneta.fund(lane.address, 1_800_000n * (2n * (baseFeePerGas ?? 0n) + tip));
    moneta.intercept = null;
    goOn(undefined);
    const requests = await Promise.all(ids.map((id) => api.settled(id)));
    expect(requests.map((request) => request.status)).to.deep.equal(Array(100).fill("completed"));
    expect(new Set(requests.map(({ transaction_hash: hash }) => hash)).size).to.be.above(1);
    await moneta.fund(lane.address, before);
  });
});
