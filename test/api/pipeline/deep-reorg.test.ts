import { expect } from "chai";

import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import type { RequestBody } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";

interface Feed {
  events: { type: string; request_id: string; nft_token_id?: number }[];
}

describe("a reorganization deeper than the confirmations", () => {
  // The chain is reverted while the service is stopped.
  const moneta = useService({ node: "deployed" });

  it("keeps the final status, rebroadcasts the transaction, and reports the new token id to the app", async () => {
    const { api } = moneta;
    const to = await api.wallet();
    const collection = await api.collection({ type: "ERC721" });
    const owner = await moneta.provider.getSigner(0);
    const contract = ERC721Collection__factory.connect(collection, owner);
    await (await contract.setMinter(owner.address, true)).wait();
    const snapshot: unknown = await moneta.provider.send("evm_snapshot", []);
    const first = await api.completed("/v1/nfts", {
      collection_address: collection,
      to_address: to,
      name: "Mine",
      unlockable_content: "only for the holder",
    });
    expect(first.nft_token_id).to.equal(1);
    await moneta.stop();

    // A reorg drops the mint, and somebody else gets id 1.
    await moneta.provider.send("evm_revert", [snapshot]);
    await (await contract.mint(owner.address)).wait();
    await moneta.start();

    const corrected = await eventually(async () => {
      const feed = await api.ok<Feed>("GET", "/v1/events?limit=30");
      return feed.events.find((event) => event.type === "corrected");
    });
    expect(corrected).to.include({ request_id: first.request_id, nft_token_id: 2 });
    const request = await api.ok<RequestBody>("GET", `/v1/requests/${first.request_id}`);
    expect(request).to.include({ status: "completed", nft_token_id: 2, transaction_hash: first.transaction_hash });
    expect(await contract.ownerOf(2)).to.equal(to);
    const { nfts } = await api.ok<{ nfts: object[] }>("GET", `/v1/accounts/${to}`);
    expect(nfts).to.have.length(1);
    // Content is bound to the request, not to the id.
    expect(nfts[0]).to.deep.include({
      token_id: 2,
      metadata: { name: "Mine" },
      unlockable_content: "only for the holder",
    });
    const metadata = await fetch(`${moneta.baseUrl}/metadata/31337/${collection}/1`);
    expect(metadata.status === 404 || !JSON.stringify(await metadata.json()).includes("Mine")).to.equal(true);
  });
});
