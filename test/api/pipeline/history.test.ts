import { expect } from "chai";
import { type JsonRpcSigner, ZeroHash } from "ethers";

import type { Shape } from "../../../client/client.ts";
import { ERC1155Collection__factory } from "../../../types/ethers-contracts/factories/ERC1155Collection__factory.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import type { ApiClient } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { Foreign } from "../../support/foreign.ts";
import { readContract } from "../../support/read-contract.ts";
import { useService } from "../../support/use-service.ts";

type Entry = Shape<"HistoryEntry">;

describe("history on a real node", () => {
  const moneta = useService();
  const { api } = moneta;
  let other: ApiClient;
  let outsider: JsonRpcSigner;

  before(async () => {
    other = await moneta.createApp("other");
    outsider = await moneta.provider.getSigner(3);
  });

  /** Newest first, once there are so many. */
  const history = (path: string, total: number, from = api) =>
    eventually(async () => {
      const page = await from.ok<Shape<"HistoryPage">>("GET", `/v1/${path}/history`);
      return page.total === total ? page.history : undefined;
    });
  const brief = (entry: Entry) => [entry.type, entry.token_id, entry.quantity, entry.from_address, entry.to_address];

  it("lists an ERC721 token's mint, transfers and burn, by the service and by others", async () => {
    const [alice, bob] = [await api.wallet(), await api.wallet()];
    const address = await api.collection({ type: "ERC721" });
    const mint = await api.mint(address, alice);
    const sent = await api.move(address, 1, alice, outsider.address);
    const contract = ERC721Collection__factory.connect(address, outsider);
    await (await contract.transferFrom(outsider.address, bob, 1)).wait();
    const burnt = await (await contract.connect(await moneta.impersonate(bob)).burn(1)).wait();

    const entries = await history(`collections/${address}/1`, 4);
    expect(entries.map(brief)).to.deep.equal([
      ["burn", 1, 1, bob, null],
      ["transfer", 1, 1, outsider.address, bob],
      ["transfer", 1, 1, alice, outsider.address],
      ["mint", 1, 1, null, alice],
    ]);
    expect(entries.map((entry) => entry.request_id)).to.deep.equal([null, null, sent.request_id, mint.request_id]);
    const block = await moneta.provider.getBlock(burnt?.blockNumber ?? 0);
    expect(entries[0]).to.deep.equal({
      type: "burn",
      final: true,
      contract_address: address,
      token_id: 1,
      quantity: 1,
      from_address: bob,
      to_address: null,
      transaction_hash: burnt?.hash,
      block_number: burnt?.blockNumber,
      timestamp: new Date((block?.timestamp ?? 0) * 1_000).toISOString(),
      request_id: null,
    });
    expect((await history(`accounts/${alice}`, 2)).map(brief)).to.deep.equal(entries.slice(2).map(brief));
    expect((await history(`accounts/${bob}`, 2)).map(brief)).to.deep.equal(entries.slice(0, 2).map(brief));
    // A burnt token still has a record and a history, but no owner, and no list has it.
    expect(await api.ok("GET", `/v1/collections/${address}/1`)).to.include({ owner: null });
    expect(await api.ok("GET", `/v1/collections/${address}`)).to.deep.include({ nfts: [], total: 0 });
    expect((await other.send("GET", `/v1/collections/${address}/1/history`)).status).to.equal(404);
  });

  it("of ERC1155 ids lists each id of a batch transfer, and the token listings agree", async () => {
    const [alice, bob] = [await api.wallet(), await other.wallet()];
    const address = await api.collection({ type: "ERC1155", base_uri: "https://a.example/{id}" });
    for (const id of [7, 8]) await api.create(address, outsider.address, id, 10);
    const contract = ERC1155Collection__factory.connect(address, outsider);
    const sent = await contract.safeBatchTransferFrom(outsider.address, alice, [7, 8], [3, 4], ZeroHash);
    const batch = await sent.wait();
    await (await contract.safeTransferFrom(outsider.address, bob, 7, 2, ZeroHash)).wait();
    await (await contract.burnBatch(outsider.address, [7, 8], [5, 6])).wait();

    const seven = await history(`collections/${address}/7`, 4);
    expect(seven.map(brief)).to.deep.equal([
      ["burn", 7, 5, outsider.address, null],
      ["transfer", 7, 2, outsider.address, bob],
      ["transfer", 7, 3, outsider.address, alice],
      ["mint", 7, 10, null, outsider.address],
    ]);
    const arrived = await history(`accounts/${alice}`, 2);
    expect(arrived.map(brief)).to.deep.equal([
      ["transfer", 8, 4, outsider.address, alice],
      ["transfer", 7, 3, outsider.address, alice],
    ]);
    expect(new Set(arrived.map((entry) => entry.transaction_hash))).to.deep.equal(new Set([batch?.hash]));
    expect(await api.ok("GET", `/v1/collections/${address}/7`)).to.deep.include({
      type: "ERC1155",
      token_id: 7,
      quantity: 5,
      token_uri: `https://a.example/${"7".padStart(64, "0")}`,
      metadata: null,
      owners: [
        { address: alice, quantity: 3, final: true },
        { address: bob, quantity: 2, final: true },
      ],
      total: 2,
    });
    // The outside account has burnt all its copies of id 8, so it is no longer listed as an owner.
    expect(await api.ok("GET", `/v1/collections/${address}/8`)).to.deep.include({
      quantity: 4,
      owners: [{ address: alice, quantity: 4, final: true }],
    });
    // Another app sees the transfers into its own wallet.
    expect((await history(`accounts/${bob}`, 1, other)).map(brief)).to.deep.equal([
      ["transfer", 7, 2, outsider.address, bob],
    ]);
    const held = await other.ok<{ nfts: object[] }>("GET", `/v1/accounts/${bob}`);
    expect(held.nfts[0]).to.include({ contract_address: address, token_id: 7, quantity: 2 });
  });

  it("of a wallet lists tokens of a foreign contract since an app first named the contract", async () => {
    const [alice, friend] = [await api.wallet(), await other.wallet()];
    const { contract: plain, address } = await new Foreign(moneta).plain(alice, 1);
    expect(await readContract(api, alice, address, await moneta.caughtUp())).to.include({ total: 1 });
    // The friend's app must follow the contract too.
    await readContract(other, friend, address);
    await (await plain.mint(alice, 2)).wait();
    await history(`accounts/${alice}`, 1);
    const moved = await api.move(address, 1, alice, friend);
    const entries = await history(`accounts/${alice}`, 2);
    expect(entries.map(brief)).to.deep.equal([
      ["transfer", 1, 1, alice, friend],
      ["mint", 2, 1, null, alice],
    ]);
    expect(entries.map((entry) => entry.request_id)).to.deep.equal([moved.request_id, null]);
    // Another app made the request.
    expect((await history(`accounts/${friend}`, 1, other))[0]).to.include({ type: "transfer", request_id: null });
    expect((await api.send("GET", `/v1/collections/${address}/1/history`)).status).to.equal(404);
  });

  it("names a request only to the app that made it", async () => {
    const [mine, theirs] = [await api.wallet(), await other.wallet()];
    const address = await api.collection({ type: "ERC721" });
    const mint = await api.mint(address, theirs);
    const moved = await other.move(address, 1, theirs, mine);
    const ids = async (from: ApiClient, path: string) =>
      (await history(path, 2, from)).map((entry) => entry.request_id);
    expect(await ids(api, `collections/${address}/1`)).to.deep.equal([null, mint.request_id]);
    expect(await ids(other, `accounts/${theirs}`)).to.deep.equal([moved.request_id, null]);
  });
});
