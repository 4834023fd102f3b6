import { expect } from "chai";

import { CollectionFactory__factory } from "../../../types/ethers-contracts/factories/CollectionFactory__factory.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";

/** Together more logs than the first slice has. */
const BLOCKS = 5;
const MINTS_OF_BLOCK = 120;

describe("blocks with more logs than one commit stores", () => {
  const moneta = useService();

  it("keep the mints of a collection that the first of these blocks creates", async () => {
    const { api, provider } = moneta;
    const factory = CollectionFactory__factory.createInterface();
    const owner = await provider.getSigner(0);
    const wallet = await api.wallet();
    const fromBlock = (await provider.getBlockNumber()) + 1;
    // The indexer stands still until everything is on the chain.
    moneta.intercept = ({ method }) =>
      method === "eth_getLogs" ? { error: { code: -32_000, message: "no" } } : undefined;
    const request = await api.accept("/v1/collections", { name: "Test", symbol: "TST", type: "ERC721" });
    const address = await eventually(async () => {
      const topics = factory.encodeFilterTopics("CollectionCreated", []);
      const [log] = await provider.getLogs({ topics, fromBlock, toBlock: "latest" });
      return log === undefined ? undefined : (factory.parseLog(log)?.args["collection"] as string);
    });
    const contract = ERC721Collection__factory.connect(address, owner);
    await (await contract.setMinter(owner.address, true)).wait();
    await provider.send("evm_setAutomine", [false]);
    try {
      let nonce = await provider.getTransactionCount(owner.address);
      for (let block = 0; block < BLOCKS; block++) {
        const gas = { gasLimit: 200_000 };
        await Promise.all(
          Array.from({ length: MINTS_OF_BLOCK }, () => contract.mint(wallet, { ...gas, nonce: nonce++ })),
        );
        await provider.send("evm_mine", []);
      }
    } finally {
      await provider.send("evm_setAutomine", [true]);
    }
    moneta.intercept = null;
    await moneta.caughtUp();
    expect(await contract.balanceOf(wallet)).to.equal(BigInt(BLOCKS * MINTS_OF_BLOCK));
    expect(await api.ok("GET", `/v1/accounts/${wallet}`)).to.include({ total: BLOCKS * MINTS_OF_BLOCK });
    expect(await api.settled(request)).to.include({ status: "completed", nft_collection: address });
  });
});
