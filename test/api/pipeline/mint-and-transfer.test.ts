import { expect } from "chai";
import { Wallet } from "ethers";

import { answerOf } from "../../../client/client.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import { HostileERC721__factory } from "../../../types/ethers-contracts/factories/mocks/HostileERC721__factory.ts";
import { PlainERC1155__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC1155__factory.ts";
import type { RequestBody } from "../../support/api-client.ts";
import { Foreign } from "../../support/foreign.ts";
import { readContract } from "../../support/read-contract.ts";
import { useService } from "../../support/use-service.ts";

describe("minting and transferring on a real node", () => {
  const moneta = useService();
  const { api } = moneta;
  const foreign = new Foreign(moneta);

  const contents = (wallet: string, contract: string) => {
    const path = { address: wallet, contract_address: contract };
    return answerOf(api.client.GET("/v1/accounts/{address}/{contract_address}", { params: { path } }));
  };
  /** A wallet with token 1 of a new collection, or with 5 copies of it. */
  async function holder(type: "ERC721" | "ERC1155", soulbound = false) {
    const [wallet, collection] = [await api.wallet(), await api.collection({ type, soulbound })];
    if (type === "ERC721") await api.mint(collection, wallet);
    else await api.create(collection, wallet, 1, 5);
    return { wallet, collection };
  }

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
  });

  for (const type of ["ERC721", "ERC1155"] as const) {
    it(`mints ${type} tokens of a soulbound collection that can never be transferred, and shows what it is`, async () => {
      const { wallet, collection } = await holder(type, true);
      expect((await contents(wallet, collection)).nfts.map((nft) => Number(nft.token_id))).to.deep.equal([1]);
      const { collections } = await answerOf(api.client.GET("/v1/collections"));
      expect(collections.find(({ address }) => address === collection)).to.include({ soulbound: true });
      const contract = ERC721Collection__factory.connect(collection, moneta.provider);
      expect(await contract.isSoulbound()).to.equal(true);
      if (type === "ERC721") expect(await contract.locked(1n)).to.equal(true);
      const body = { from_address: wallet, to_address: await api.wallet(), contract_address: collection, token_id: 1 };
      expect(await api.refusal("POST", "/v1/transfers", { ...body, amount: 1 })).to.equal("422 not_transferable");
    });

    it(`runs a transfer of ${type} to the same wallet on chain, and leaves the holding as it is`, async () => {
      const { wallet, collection } = await holder(type);
      const before = (await contents(wallet, collection)).nfts;
      const request = await api.move(collection, 1, wallet, wallet, 1);
      expect(BigInt(request.gas_used ?? 0) > 0n).to.equal(true);
      expect((await contents(wallet, collection)).nfts).to.deep.equal(before);
      const path = `/v1/collections/${collection}/1/history`;
      const [entry] = (await api.ok<{ history: object[] }>("GET", path)).history;
      expect(entry).to.include({ type: "transfer", from_address: wallet, to_address: wallet, quantity: 1 });
      expect(entry).to.include({ request_id: request.request_id });
      const own = await api.ok<{ history: { type: string }[] }>("GET", `/v1/accounts/${wallet}/history`);
      expect(own.history.map((one) => one.type)).to.deep.equal(["transfer", "mint"]);
    });
  }

  it("moves a token with its unlockable content and its listing, and copies with both quantities", async () => {
    const [alice, bob] = [await api.wallet(), await api.wallet()];
    const collection = await api.collection({ type: "ERC721" });
    const shown = { unlockable_content: "the code is 42" };
    await api.mint(collection, alice, { name: "No. {token_id}", ...shown });
    expect((await contents(alice, collection)).nfts[0]).to.deep.include({ ...shown, metadata: { name: "No. 1" } });
    await api.move(collection, 1, alice, bob);
    expect(await contents(alice, collection)).to.deep.include({ nfts: [], total: 0 });
    expect((await contents(bob, collection)).nfts[0]).to.include(shown);

    const editions = await api.collection({ type: "ERC1155", base_uri: "https://example.org/{id}.json" });
    await api.create(editions, alice, 9, 10);
    await api.mint(editions, alice, { token_id: 9, quantity: 5 });
    await api.move(editions, 9, alice, bob, 4);
    expect((await contents(alice, editions)).nfts[0]).to.include({ token_id: 9, quantity: 11 });
    expect((await contents(bob, editions)).nfts[0]).to.include({ token_id: 9, quantity: 4 });
  });

  it("moves tokens of others with the wallet's signature, through code that the wallet delegates to once", async () => {
    const [alice, friend] = [await api.wallet(), Wallet.createRandom().address];
    const { contract: plain, address } = await foreign.plain(alice, 77, 78);
    const copies = await new PlainERC1155__factory(await foreign.signer()).deploy();
    await (await copies.mint(alice, 5, 10)).wait();
    expect(await moneta.provider.getCode(alice)).to.equal("0x");
    const moved: RequestBody[] = [
      await api.move(address, 77, alice, friend),
      await api.move(await copies.getAddress(), 5, alice, friend, 4),
      await api.move(address, 78, alice, friend),
    ];
    for (const id of [77, 78]) expect(await plain.ownerOf(id)).to.equal(friend);
    expect([await copies.balanceOf(alice, 5), await copies.balanceOf(friend, 5)]).to.deep.equal([6n, 4n]);
    const code = `0xef0100${moneta.service.contracts.delegate.slice(2)}`.toLowerCase();
    expect(await moneta.provider.getCode(alice)).to.equal(code);
    const sent = moved.map(({ transaction_hash: hash }) => moneta.provider.getTransaction(hash ?? ""));
    expect((await Promise.all(sent)).map((transaction) => transaction?.type)).to.deep.equal([4, 2, 2]);
    expect(await moneta.provider.getBalance(alice)).to.equal(0n);
    expect((await contents(alice, await copies.getAddress())).nfts[0]).to.include({ token_id: 5, quantity: 6 });
  });

  it("fails what a contract of others accepts without moving anything, each time that it is tried", async () => {
    const contract = await (await new HostileERC721__factory(await foreign.signer()).deploy()).waitForDeployment();
    const [address, wallet, to] = [await contract.getAddress(), await api.wallet(), await api.wallet()];
    await (await contract.claim(1, wallet)).wait();
    // The wallet's token becomes known by an event.
    await readContract(api, wallet, address);
    await (await contract.spam("0x00000000000000000000000000000000000000A1", wallet, 1, 1)).wait();
    await readContract(api, wallet, address, await moneta.provider.getBlockNumber());
    const token = { from_address: wallet, contract_address: address, token_id: 1 };
    for (let times = 0; times < 2; times++) {
      for (const request of [
        await api.done("/v1/transfers", { ...token, to_address: to }),
        await api.done("/v1/burns", token),
      ]) {
        expect(request).to.include({ status: "failed", error_code: "nothing_moved" });
        expect(request.error_message).to.match(/succeeded and moved nothing/);
        expect(request.transaction_hash).to.match(/^0x/);
      }
    }
    expect((await contents(wallet, address)).nfts.map((nft) => Number(nft.token_id))).to.deep.equal([1]);
  });
});
