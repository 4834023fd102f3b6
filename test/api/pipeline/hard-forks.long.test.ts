import { expect } from "chai";
import { type JsonRpcSigner, Wallet } from "ethers";
import { sql } from "kysely";

import { PlainERC721__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC721__factory.ts";
import type { ServiceFixture } from "../../support/service-fixture.ts";
import { useService } from "../../support/use-service.ts";

/** Creates collections, mints, transfers, and changes metadata: everything that the service sends. */
function itDoesTheMainJob(moneta: ServiceFixture): void {
  const { api } = moneta;
  let outsider: JsonRpcSigner;

  before(async () => {
    outsider = await moneta.provider.getSigner(3);
  });

  it("creates a hosted collection, mints to new wallets and strangers, transfers and freezes", async () => {
    const [alice, bob] = [await api.wallet(), await api.wallet()];
    const collection = await api.collection({ type: "ERC721", seller_fee_basis_points: 500, fee_recipient: bob });
    const recipients = [alice, bob, await api.wallet(), Wallet.createRandom().address, Wallet.createRandom().address];
    const mints = await Promise.all(
      recipients.map((to) => api.done("/v1/nfts", { collection_address: collection, to_address: to, name: "A" })),
    );
    expect(mints.map(({ status }) => status)).to.deep.equal(Array(5).fill("completed"));
    const token = mints[0]?.nft_token_id ?? 0;
    const transfer = { contract_address: collection, from_address: alice, to_address: bob, token_id: token };
    await api.completed("/v1/transfers", transfer);
    const freeze = await api.ok<{ request_id: string }>("POST", `/v1/collections/${collection}/freeze`, {});
    expect((await api.settled(freeze.request_id)).status).to.equal("completed");
  });

  it("creates a self-hosted ERC1155 collection with long URIs, new ids with and without a URI, copies and a transfer", async () => {
    const [alice, bob] = [await api.wallet(), await api.wallet()];
    const long = `https://app.example/${"x".repeat(900)}`;
    const collection = await api.collection({ type: "ERC1155", base_uri: `${long}{id}`, collection_uri: long });
    const created = { collection_address: collection, initial_owner: alice, initial_supply: 3 };
    await api.completed("/v1/nfts", { ...created, token_id: 1 });
    await api.completed("/v1/nfts", { ...created, token_id: 2, uri: long });
    await api.completed("/v1/nfts", { collection_address: collection, token_id: 1, to_address: bob, quantity: 2 });
    const transfer = { contract_address: collection, from_address: alice, to_address: bob, token_id: 2, amount: 1 };
    await api.completed("/v1/transfers", transfer);
  });

  it("counts enough gas: no batch stops before its end", async () => {
    const { rows } = await sql<{ n: number }>`select count(*) as n from requests where returns > 0`.execute(
      moneta.service.database.read,
    );
    expect(rows).to.deep.equal([{ n: 0 }]);
  });

  it("transfers a foreign token of a wallet that has never delegated", async () => {
    const [alice, bob] = [await api.wallet(), await api.wallet()];
    const plain = await new PlainERC721__factory(outsider).deploy({ gasLimit: 16_000_000 });
    await (await plain.mint(alice, 7, { gasLimit: 1_000_000 })).wait();
    const transfer = { contract_address: await plain.getAddress(), from_address: alice, to_address: bob, token_id: 7 };
    await api.completed("/v1/transfers", transfer);
    expect(await plain.ownerOf(7)).to.equal(bob);
  });
}

// Each block has a node with rules of its own.
describe("Hard forks", () => {
  for (const hardfork of ["prague", "osaka"]) {
    describe(`under the rules of ${hardfork}`, () => {
      itDoesTheMainJob(useService({ hardfork }));
    });
  }

  describe("given the contracts were deployed before the Amsterdam hard fork", () => {
    const moneta = useService({ hardfork: "osaka" });
    before("activate Amsterdam", () => moneta.activate("amsterdam"));

    it("completes the first mint of a wallet", async () => {
      const { api } = moneta;
      const collection = await api.collection({ type: "ERC721" });
      const mint = await api.done("/v1/nfts", { collection_address: collection, to_address: await api.wallet() });
      expect(mint).to.deep.include({ status: "completed", errors: null });
    });

    // The price of the calldata is above what the calls use: a limit by their gas alone is refused (EIP-7976).
    it("settles a full batch of copies for one holder, in few transactions", async () => {
      const { api } = moneta;
      const [alice, bob] = [await api.wallet(), await api.wallet()];
      const collection = await api.collection({ type: "ERC1155" });
      const id = { collection_address: collection, token_id: 1 };
      await api.completed("/v1/nfts", { ...id, initial_owner: alice, initial_supply: 1 });
      const items = Array(250).fill({ ...id, to_address: bob, quantity: 1 });
      const { results } = await api.ok<{ results: { request_id: string }[] }>("POST", "/v1/nfts/batch", { items });
      const settled = await Promise.all(results.map(({ request_id: request }) => api.settled(request)));
      expect(new Set(settled.map(({ status }) => status))).to.deep.equal(new Set(["completed"]));
      expect(new Set(settled.map(({ transaction_hash: hash }) => hash)).size).to.be.below(4);
    });

    itDoesTheMainJob(moneta);
  });
});
