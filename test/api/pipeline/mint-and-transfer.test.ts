import { expect } from "chai";
import { type JsonRpcSigner, Wallet } from "ethers";

import { answerOf } from "../../../client/client.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import { RejectingReceiver__factory } from "../../../types/ethers-contracts/factories/mocks/RejectingReceiver__factory.ts";
import { HostileERC721__factory } from "../../../types/ethers-contracts/factories/mocks/HostileERC721__factory.ts";
import { PlainERC1155__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC1155__factory.ts";
import { PlainERC721__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC721__factory.ts";
import type { RequestBody } from "../../support/api-client.ts";
import { readContract } from "../../support/read-contract.ts";
import { useService } from "../../support/use-service.ts";

describe("minting and transferring on a real node", () => {
  const moneta = useService();
  const { api } = moneta;
  let outsider: JsonRpcSigner;

  before(async () => {
    outsider = await moneta.provider.getSigner(3);
  });

  const contents = (wallet: string, contract: string) => {
    const path = { address: wallet, contract_address: contract };
    return answerOf(api.client.GET("/v1/accounts/{address}/{contract_address}", { params: { path } }));
  };

  describe("a burst of mints", () => {
    it("settles 100 mints in at most 3 transactions, with ids 1 to 100", async () => {
      const to = await api.wallet();
      const collection = await api.collection({ type: "ERC721", mint_supply_count: 100 });
      // However slowly the machine accepts them, they wait together: the lane cannot send without knowing its funds.
      const { promise: accepted, resolve: goOn } = Promise.withResolvers<undefined>();
      moneta.intercept = ({ method }) => (method === "eth_getBalance" ? accepted : undefined);
      const ids = await Promise.all(
        Array.from({ length: 100 }, () => api.accept("/v1/nfts", { collection_address: collection, to_address: to })),
      );
      moneta.intercept = null;
      goOn(undefined);
      const requests = await Promise.all(ids.map((id) => api.settled(id)));
      expect(requests.map((request) => request.status)).to.deep.equal(Array(100).fill("completed"));
      expect(new Set(requests.map((request) => request.transaction_hash)).size).to.be.at.most(3);
      const tokenIds = requests.map((request) => Number(request.nft_token_id)).sort((a, b) => a - b);
      expect(tokenIds).to.deep.equal(Array.from({ length: 100 }, (_, index) => index + 1));
      const refused = await api.send("POST", "/v1/nfts", { collection_address: collection, to_address: to });
      expect(refused.body).to.include({ error_code: "supply_exceeded" });
    });
  });

  describe("a soulbound collection", () => {
    for (const type of ["ERC721", "ERC1155"] as const) {
      it(`mints ${type} tokens that can never be transferred, and shows what it is`, async () => {
        const [alice, bob] = [await api.wallet(), await api.wallet()];
        const collection = await api.collection({ type, soulbound: true });
        const id = { token_id: 1, initial_supply: 5, initial_owner: alice };
        for (let i = 0; i < (type === "ERC721" ? 3 : 1); i++) {
          await api.completed("/v1/nfts", {
            collection_address: collection,
            ...(type === "ERC721" ? { to_address: alice } : id),
          });
        }
        const { nfts } = await contents(alice, collection);
        expect(nfts.map((nft) => Number(nft.token_id))).to.deep.equal(type === "ERC721" ? [1, 2, 3] : [1]);
        const { collections } = await answerOf(api.client.GET("/v1/collections"));
        expect(collections.find(({ address }) => address === collection)).to.include({ soulbound: true });
        const contract = ERC721Collection__factory.connect(collection, moneta.provider);
        expect(await contract.isSoulbound()).to.equal(true);
        if (type === "ERC721") expect(await contract.locked(3n)).to.equal(true);
        const refused = await api.send("POST", "/v1/transfers", {
          from_address: alice,
          to_address: bob,
          contract_address: collection,
          token_id: 1,
          amount: 1,
        });
        expect(refused.status).to.equal(422);
        expect(refused.body).to.include({ error_code: "not_transferable" });
      });
    }
  });

  describe("the relay's own address", () => {
    it("is refused", async () => {
      const { relay } = moneta.service.contracts;
      const body = { type: "ERC721", name: "N", symbol: "S", new_owner: relay };
      const refused = await api.send("POST", "/v1/collections", body);
      expect(refused.status).to.equal(422);
      expect(refused.body).to.have.nested.property("errors[0].field", "new_owner");
      expect(refused.body).to.have.nested.property("errors[0].code", "relay_address");
    });
  });

  describe("a transfer to the same wallet", () => {
    for (const type of ["ERC721", "ERC1155"] as const) {
      it(`runs on chain for ${type}, completes, and leaves the holding as it is`, async () => {
        const alice = await api.wallet();
        const collection = await api.collection({ type });
        const id = { token_id: 1, initial_supply: 5, initial_owner: alice };
        await api.completed("/v1/nfts", {
          collection_address: collection,
          ...(type === "ERC721" ? { to_address: alice } : id),
        });
        const before = (await contents(alice, collection)).nfts;
        const transfer = {
          from_address: alice,
          to_address: alice,
          contract_address: collection,
          token_id: 1,
          amount: 1,
        };
        const request = await api.completed("/v1/transfers", transfer);
        expect(BigInt(request.gas_used ?? 0) > 0n).to.equal(true);
        expect((await contents(alice, collection)).nfts).to.deep.equal(before);
        const path = { address: collection, token_id: "1" };
        const { history } = await answerOf(
          api.client.GET("/v1/collections/{address}/{token_id}/history", { params: { path } }),
        );
        expect(history[0]).to.include({ type: "transfer", from_address: alice, to_address: alice, quantity: 1 });
        expect(history[0]).to.include({ request_id: request.request_id });
        const wallet = await answerOf(
          api.client.GET("/v1/accounts/{address}/history", { params: { path: { address: alice } } }),
        );
        expect(wallet.history.map((entry) => entry.type)).to.deep.equal(["transfer", "mint"]);
      });
    }
  });

  describe("a transfer", () => {
    it("moves the token, its unlockable content and the listing", async () => {
      const [alice, bob] = [await api.wallet(), await api.wallet()];
      const collection = await api.collection({ type: "ERC721" });
      const mint = await api.completed("/v1/nfts", {
        collection_address: collection,
        to_address: alice,
        name: "No. {token_id}",
        unlockable_content: "the code is 42",
      });
      expect((await contents(alice, collection)).nfts[0]).to.deep.include({
        unlockable_content: "the code is 42",
        metadata: { name: "No. 1" },
      });
      await api.completed("/v1/transfers", {
        from_address: alice,
        to_address: bob,
        contract_address: collection,
        token_id: mint.nft_token_id ?? 0,
      });
      expect(await contents(alice, collection)).to.deep.include({ nfts: [], total: 0 });
      expect((await contents(bob, collection)).nfts[0]).to.include({ unlockable_content: "the code is 42" });
    });

    it("of ERC1155 copies changes both quantities", async () => {
      const [alice, bob] = [await api.wallet(), await api.wallet()];
      const collection = await api.collection({ type: "ERC1155", base_uri: "https://example.org/{id}.json" });
      await api.completed("/v1/nfts", {
        collection_address: collection,
        initial_owner: alice,
        token_id: 9,
        initial_supply: 10,
      });
      await api.completed("/v1/nfts", { collection_address: collection, to_address: alice, token_id: 9, quantity: 5 });
      await api.completed("/v1/transfers", {
        from_address: alice,
        to_address: bob,
        contract_address: collection,
        token_id: 9,
        amount: 4,
      });
      expect((await contents(alice, collection)).nfts[0]).to.include({ token_id: 9, quantity: 11 });
      expect((await contents(bob, collection)).nfts[0]).to.include({ token_id: 9, quantity: 4 });
    });
  });

  describe("tokens of contracts that are not the service's", () => {
    it("are transferred with the wallet's signature, through code that the wallet delegates to once", async () => {
      const [alice, friend] = [await api.wallet(), Wallet.createRandom().address];
      const plain721 = await new PlainERC721__factory(outsider).deploy();
      const plain1155 = await new PlainERC1155__factory(outsider).deploy();
      await (await plain721.mint(alice, 77)).wait();
      await (await plain721.mint(alice, 78)).wait();
      await (await plain1155.mint(alice, 5, 10)).wait();
      const before = await moneta.provider.getCode(alice);
      const transfers: RequestBody[] = [];
      for (const fields of [
        { contract_address: await plain721.getAddress(), token_id: 77 },
        { contract_address: await plain1155.getAddress(), token_id: 5, amount: 4 },
        { contract_address: await plain721.getAddress(), token_id: 78 },
      ]) {
        transfers.push(await api.completed("/v1/transfers", { from_address: alice, to_address: friend, ...fields }));
      }
      expect(await plain721.ownerOf(77)).to.equal(friend);
      expect(await plain721.ownerOf(78)).to.equal(friend);
      expect([await plain1155.balanceOf(alice, 5), await plain1155.balanceOf(friend, 5)]).to.deep.equal([6n, 4n]);
      expect(before).to.equal("0x");
      expect((await moneta.provider.getCode(alice)).toLowerCase()).to.equal(
        `0xef0100${moneta.service.contracts.delegate.slice(2)}`.toLowerCase(),
      );
      const types = await Promise.all(
        transfers.map(async ({ transaction_hash: hash }) => (await moneta.provider.getTransaction(hash ?? ""))?.type),
      );
      expect(types).to.deep.equal([4, 2, 2]);
      expect(await moneta.provider.getBalance(alice)).to.equal(0n);
      expect((await contents(alice, await plain1155.getAddress())).nfts[0]).to.include({ token_id: 5, quantity: 6 });
    });

    it("can be transferred again after a transfer that the contract accepts without moving anything, and that fails", async () => {
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
      expect((await contents(wallet, address)).nfts.map((nft) => Number(nft.token_id))).to.deep.equal([1]);
    });
  });

  describe("a receiver that rejects the token", () => {
    it("fails only its own request, with the reason, and releases the reservation", async () => {
      const alice = await api.wallet();
      const collection = await api.collection({ type: "ERC721", mint_supply_count: 3 });
      const refusing = await new RejectingReceiver__factory(outsider).deploy();
      const accepted = await Promise.all(
        [alice, await refusing.getAddress(), alice].map((to) =>
          api.accept("/v1/nfts", { collection_address: collection, to_address: to }),
        ),
      );
      const [first, refused, third] = await Promise.all(accepted.map((id) => api.settled(id)));
      expect([first?.status, first?.nft_token_id]).to.deep.equal(["completed", 1]);
      expect([third?.status, third?.nft_token_id]).to.deep.equal(["completed", 2]);
      expect(refused).to.include({ status: "failed", error_code: "receiver_rejected", nft_token_id: null });
      const last = await api.completed("/v1/nfts", { collection_address: collection, to_address: alice });
      expect(last.nft_token_id).to.equal(3);
    });
  });
});
