import { expect } from "chai";

import { ERC1155Collection__factory } from "../../../types/ethers-contracts/factories/ERC1155Collection__factory.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import type { RequestBody } from "../../support/api-client.ts";
import { useService } from "../../support/use-service.ts";

describe("metadata changes and the freeze on a real node", () => {
  const moneta = useService();
  const { api } = moneta;

  const completed = async (id: string): Promise<RequestBody> => {
    const request = await api.settled(id);
    expect(request, JSON.stringify(request.errors)).to.include({ status: "completed" });
    return request;
  };
  const change = async (path: string, body: Record<string, unknown>) => {
    const answer = await api.send<{ request_id: string }>("PATCH", `/v1/collections/${path}`, body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return completed(answer.body.request_id);
  };
  const record = async (address: string) => {
    const { collections } = await api.ok<{ collections: { address: string }[] }>("GET", "/v1/collections?limit=30");
    return collections.find((one) => one.address === address);
  };
  const fetchIpfs = (uri: string) => fetch(uri.replace("ipfs://", `${moneta.baseUrl}/ipfs/`));

  it("announces changes on chain", async () => {
    const address = await api.collection({ type: "ERC721" });
    await api.mint(address, await api.wallet(), { name: "Cat" });
    const collection = ERC721Collection__factory.connect(address, moneta.provider);
    const token = await change(`${address}/1`, { name: "Dog" });
    expect(token).to.include({ nft_collection: address, nft_token_id: 1 });
    const updates = await collection.queryFilter(collection.filters.MetadataUpdate(), token.block_number ?? 0);
    expect(updates.map((event) => event.args._tokenId)).to.deep.equal([1n]);
    const own = await change(address, { description: "cats and dogs" });
    expect(await collection.queryFilter(collection.filters.ContractURIUpdated(), own.block_number ?? 0)).to.have.length(
      1,
    );
    expect(await api.ok("GET", `/metadata/31337/${address}/1`)).to.deep.equal({ name: "Dog" });
  });

  it("announces changes of an ERC1155 token by the event of its standard, and the token keeps no URI of its own", async () => {
    const address = await api.collection({ type: "ERC1155" });
    await api.create(address, await api.wallet(), 7, 2, { name: "Cat" });
    const collection = ERC1155Collection__factory.connect(address, moneta.provider);
    const changed = await change(`${address}/7`, { name: "Dog" });
    const updates = await collection.queryFilter(collection.filters.URI(), changed.block_number ?? 0);
    expect(updates.map(({ args: [uri, id] }) => [uri, id])).to.deep.equal([[await collection.uri(7), 7n]]);
    const { read } = moneta.service.database;
    const rows = read.selectFrom("nfts").select("token_uri").where("contract", "=", address);
    expect(await rows.execute()).to.deep.equal([{ token_uri: null }]);
  });

  it("freezes an ERC721 collection, including pending mints", async () => {
    const address = await api.collection({ type: "ERC721", description: "cats" });
    const to = await api.wallet();
    const token = { name: "Cat {token_id}", image: "https://cats.example/{token_id}.png" };
    const mint = { collection_address: address, to_address: to, ...token };
    const mints = await Promise.all(Array.from({ length: 30 }, () => api.accept("/v1/nfts", mint)));
    const id = await api.accept(`/v1/collections/${address}/freeze`, {});
    expect(await completed(id)).to.include({ nft_collection: address, nft_token_id: null });
    for (const one of mints) await completed(one);
    const collection = ERC721Collection__factory.connect(address, moneta.provider);
    expect(await collection.metadataFrozen()).to.equal(true);
    for (const token of [1n, 17n, 30n]) {
      const answer = await fetchIpfs(await collection.tokenURI(token));
      expect(answer.headers.get("content-type")).to.equal("application/json");
      const published = { name: `Cat ${token.toString()}`, image: `https://cats.example/${token.toString()}.png` };
      expect(await answer.json()).to.deep.equal(published);
    }
    const uri = await collection.contractURI();
    expect(uri).to.match(/^ipfs:\/\/bafybei[a-z2-7]+\/collection\.json$/);
    expect(await (await fetchIpfs(uri)).json()).to.deep.equal({ name: "Test", symbol: "TST", description: "cats" });
    // The listings agree with the chain.
    expect(await record(address)).to.include({ collection_uri: uri });
    const nft = await api.ok<{ token_uri: string }>("GET", `/v1/collections/${address}/17`);
    expect(nft.token_uri).to.equal(await collection.tokenURI(17n));
    for (const [method, path, body] of [
      ["PATCH", `/v1/collections/${address}`, { description: "x" }],
      ["PATCH", `/v1/collections/${address}/1`, { name: "x" }],
      ["POST", `/v1/collections/${address}/freeze`, {}],
      ["POST", "/v1/nfts", { collection_address: address, to_address: to }],
    ] as const) {
      expect(await api.refusal(method, path, body), path).to.equal("422 metadata_frozen");
    }
  });

  it("freezes an ERC1155 collection, which shows it as pending until it is on chain", async () => {
    const address = await api.collection({ type: "ERC1155" });
    const to = await api.wallet();
    await api.create(address, to, "255", 3, { name: "Gem {token_id}" });
    expect(await record(address)).to.include({ metadata_frozen: "no", royalty_frozen: false });
    await moneta.provider.send("evm_setAutomine", [false]);
    let id: string;
    try {
      id = await api.accept(`/v1/collections/${address}/freeze`, {});
      expect(await record(address)).to.include({ metadata_frozen: "pending" });
    } finally {
      await moneta.provider.send("evm_setAutomine", [true]);
    }
    // The transaction may have been sent before.
    await moneta.provider.send("evm_mine", []);
    await completed(id);
    const collection = ERC1155Collection__factory.connect(address, moneta.provider);
    const uri = (await collection.uri(255n)).replace("{id}", "ff".padStart(64, "0"));
    expect(await (await fetchIpfs(uri)).json()).to.deep.equal({ name: "Gem 255" });
    expect(await api.ok("GET", `/v1/collections/${address}/255`)).to.include({ token_uri: uri });
    await api.mint(address, to, { token_id: "255", quantity: 2 });
    expect(await record(address)).to.include({ metadata_frozen: "yes", royalty_frozen: false, minted: 1, copies: 5 });
  });
});
