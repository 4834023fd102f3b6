import { expect } from "chai";

import { CUSTOM_NETWORK, networkOf, NETWORKS, rpcVariable } from "../../../api/config/networks.ts";

describe("the table of networks", () => {
  it("names each chain once, and each has an explorer that links can be made from", () => {
    expect(new Set(NETWORKS.map(({ name }) => name)).size).to.equal(NETWORKS.length);
    expect(new Set(NETWORKS.map(({ chainId }) => chainId)).size).to.equal(NETWORKS.length);
    for (const { name, chainId, explorerUrl } of NETWORKS) {
      expect(explorerUrl, name).to.match(/^https:\/\/[^/]+$/);
      expect(networkOf(BigInt(chainId))?.name).to.equal(name);
    }
    expect(networkOf(31_337n)).to.equal(undefined);
  });

  it("still has the names and variables of 0.2.0", () => {
    expect(["sepolia", "baseSepolia", "polygonAmoy", CUSTOM_NETWORK].map(rpcVariable)).to.deep.equal([
      "SEPOLIA_RPC_URL",
      "BASE_SEPOLIA_RPC_URL",
      "POLYGON_AMOY_RPC_URL",
      "RPC_URL",
    ]);
    expect(NETWORKS.map(({ name }) => name)).to.include.members(["sepolia", "baseSepolia", "polygonAmoy"]);
  });
});
