import { expect } from "chai";

import { HostileERC721__factory } from "../../../types/ethers-contracts/factories/mocks/HostileERC721__factory.ts";
import { readContract } from "../../support/read-contract.ts";
import { useService } from "../../support/use-service.ts";

interface Holdings {
  nfts: { token_id: string | number }[];
}

describe("a transfer that a contract of others accepts without moving anything", () => {
  const moneta = useService();
  const { api } = moneta;

  it("fails, and the token can be transferred again", async () => {
    const outsider = await moneta.provider.getSigner(3);
    const contract = await (await new HostileERC721__factory(outsider).deploy()).waitForDeployment();
    const [address, wallet, to] = [await contract.getAddress(), await api.wallet(), await api.wallet()];
    await (await contract.claim(1, wallet)).wait();
    // The wallet's token becomes known by an event.
    await readContract(api, wallet, address);
    await (await contract.spam("0x00000000000000000000000000000000000000A1", wallet, 1, 1)).wait();
    await readContract(api, wallet, address, await moneta.provider.getBlockNumber());
    const transfer = { from_address: wallet, contract_address: address, token_id: 1, to_address: to };
    for (let times = 0; times < 2; times++) {
      const request = await api.done("/v1/transfers", transfer);
      expect(request).to.include({ status: "failed", error_code: "nothing_moved" });
      expect(request.error_message).to.match(/succeeded and moved nothing/);
      expect(request.transaction_hash).to.match(/^0x/);
    }
    const held = await api.ok<Holdings>("GET", `/v1/accounts/${wallet}/${address}`);
    expect(held.nfts.map(({ token_id: id }) => Number(id))).to.deep.equal([1]);
  });
});
