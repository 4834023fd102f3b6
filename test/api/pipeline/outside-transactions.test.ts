import { expect } from "chai";
import { type JsonRpcSigner, Wallet } from "ethers";

import { openBatches } from "../../../api/store/sending/batches.ts";
import { allLanes } from "../../../api/store/sending/lanes.ts";
import { ERC1155Collection__factory } from "../../../types/ethers-contracts/factories/ERC1155Collection__factory.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import { Relay__factory } from "../../../types/ethers-contracts/factories/Relay__factory.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";
import { requestRow } from "../support/rows.ts";

/** Reverts with Error(string) over the bytes ff fe, which are not UTF-8. */
const REVERTS_WITH_RUBBISH = "0x6308c379a060e01b6000526020600452600260245261fffe60f01b60445260646000fd";

describe("transactions that others send to the service's collections", () => {
  const moneta = useService();
  const { api } = moneta;
  let owner: JsonRpcSigner;

  before(async () => {
    owner = await moneta.provider.getSigner(3);
  });

  const record = (address: string) =>
    api
      .ok<{ collections: Record<string, unknown>[] }>("GET", "/v1/collections?limit=30")
      .then(({ collections }) => collections.find((one) => one["address"] === address));

  it("given a receiver whose revert reason is not valid text: fails only its own mint", async () => {
    const receiver = Wallet.createRandom().address;
    await moneta.provider.send("hardhat_setCode", [receiver, REVERTS_WITH_RUBBISH]);
    const [collection, to] = [await api.collection({ type: "ERC721" }), await api.wallet()];
    const ids = await Promise.all(
      [to, receiver, to].map((one) => api.accept("/v1/nfts", { collection_address: collection, to_address: one })),
    );
    const requests = await Promise.all(ids.map((id) => api.settled(id)));
    expect(requests.map(({ status, error_code: code }) => [status, code])).to.deep.equal([
      ["completed", null],
      ["failed", "receiver_rejected"],
      ["completed", null],
    ]);
  });

  describe("given a cancelled number, and a transaction of another sender with the lane's nonce", () => {
    afterEach(() => moneta.provider.send("evm_setAutomine", [true]));

    it("fails the request, closes its batch, and sends the next one", async () => {
      const [collection, to] = [await api.collection({ type: "ERC721" }), await api.wallet()];
      const { database, contracts } = moneta.service;
      await moneta.provider.send("evm_setAutomine", [false]);
      const id = await api.accept("/v1/nfts", { collection_address: collection, to_address: to });
      await api.processing(id);
      const { number } = await requestRow(database, id);
      const [batch] = await openBatches(database.read);
      const [lane] = await allLanes(database.read);
      if (batch === undefined || lane === undefined) throw new Error("the batch is open");
      const relay = Relay__factory.connect(contracts.relay, moneta.provider);
      const fees = { maxFeePerGas: "0xe8d4a51000", maxPriorityFeePerGas: "0xe8d4a51000", gas: "0x30d40" };
      const send = async (from: string, to: string, fields: object) => {
        await moneta.provider.send("hardhat_impersonateAccount", [from]);
        await moneta.provider.send("eth_sendTransaction", [{ from, to, ...fees, ...fields }]);
        await moneta.provider.send("hardhat_stopImpersonatingAccount", [from]);
      };
      // It replaces the batch's transaction in the pool.
      await send(lane.address, lane.address, { nonce: `0x${batch.nonce.toString(16)}` });
      await send(await relay.owner(), contracts.relay, {
        data: relay.interface.encodeFunctionData("cancel", [[number ?? 0n]]),
      });
      await moneta.provider.send("evm_setAutomine", [true]);
      await moneta.provider.send("hardhat_mine", ["0x5"]);
      expect(await api.settled(id)).to.include({ status: "failed", error_code: "number_taken" });
      await eventually(async () => ((await openBatches(database.read)).length === 0 ? true : undefined));
      await api.mint(collection, to);
    });
  });

  describe("given an owner who uses an ERC721 collection directly", () => {
    it("follows an invalid base URI, own minting and burning, a lower cap, and the removal of the service as minter", async () => {
      const to = await api.wallet();
      const collection = await api.collection({
        type: "ERC721",
        base_uri: "https://a.example/",
        new_owner: owner.address,
        mint_supply_count: 10,
      });
      const contract = ERC721Collection__factory.connect(collection, owner);
      const call =
        contract.interface.getFunction("setBaseURI").selector +
        `${"20".padStart(64, "0")}${"02".padStart(64, "0")}${"fffe".padEnd(64, "0")}`;
      await (await owner.sendTransaction({ to: collection, data: call })).wait();
      await (await contract.setMinter(owner.address, true)).wait();
      for (let count = 0; count < 3; count++) await (await contract.mint(owner.address)).wait();
      await (await contract.burn(2)).wait();
      expect(await record(collection)).to.include({ metadata_frozen: "no", royalty_frozen: false });
      await (await contract.freezeMetadata()).wait();
      await (await contract.freezeRoyalty()).wait();
      await (await contract.lowerMaxSupply(4)).wait();
      const seen = await eventually(async () => {
        const found = await record(collection);
        return found?.["mint_supply_count"] === 4 && found["minted"] === 3 ? found : undefined;
      });
      expect(seen).to.include({ base_uri: "\ufffd\ufffd", owner: owner.address });
      expect(seen).to.include({ metadata_frozen: "yes", royalty_frozen: true }).and.not.have.property("copies");

      const last = await api.mint(collection, to);
      expect(last.nft_token_id).to.equal(4);
      const over = await api.send("POST", "/v1/nfts", { collection_address: collection, to_address: to });
      expect(over.body).to.include({ error_code: "supply_exceeded" });
      const { total } = await api.ok<{ total: number }>("GET", `/v1/collections/${collection}`);
      expect(total).to.equal(3);
      await (await contract.setMinter(moneta.service.contracts.relay, false)).wait();
      await eventually(async () => {
        const refused = await api.send("POST", "/v1/nfts", { collection_address: collection, to_address: to });
        return refused.body["error_code"] === "service_cannot_mint" ? true : undefined;
      });
    });

    it("treats a cap above 2^53-1 as unlimited", async () => {
      const collection = await api.collection({
        type: "ERC721",
        base_uri: "https://a.example/",
        new_owner: owner.address,
      });
      const contract = ERC721Collection__factory.connect(collection, owner);
      await (await contract.lowerMaxSupply(2n ** 64n - 2n)).wait();
      await (await contract.lowerMaxSupply(2n ** 53n)).wait();
      const to = await api.wallet();
      expect((await api.mint(collection, to)).nft_token_id).to.equal(1);
      expect(await record(collection)).to.include({ mint_supply_count: null });
      await (await contract.lowerMaxSupply(7)).wait();
      await eventually(async () => ((await record(collection))?.["mint_supply_count"] === 7 ? true : undefined));
    });
  });

  it("the owner of an ERC1155 collection, outside the service: can create an id that a request has reserved: the request fails, and the token gets nothing from it", async () => {
    const to = await api.wallet();
    const collection = await api.collection({ type: "ERC1155", new_owner: owner.address });
    const contract = ERC1155Collection__factory.connect(collection, owner);
    await (await contract.setMinter(owner.address, true)).wait();
    // No block is mined until the owner's transaction is the first in the pool.
    await moneta.provider.send("evm_setAutomine", [false]);
    const bid = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 12n - 1n, gasLimit: 500_000 };
    await contract.create(to, 5, 2, "ipfs://outside", bid);
    const id = await api.accept("/v1/nfts", {
      collection_address: collection,
      initial_owner: to,
      token_id: 5,
      initial_supply: 10,
      name: "of the request",
      unlockable_content: "the secret of the request",
    });
    await api.processing(id);
    // In this order a transaction that arrives in between is mined too.
    await moneta.provider.send("evm_setAutomine", [true]);
    await moneta.provider.send("evm_mine", []);
    expect(await api.settled(id)).to.include({ status: "failed", error_code: "token_already_exists" });
    const { nfts } = await api.ok<{ nfts: object[] }>("GET", `/v1/accounts/${to}/${collection}`);
    expect(nfts).to.have.length(1);
    expect(nfts[0]).to.deep.include({
      token_id: 5,
      quantity: 2,
      unlockable_content: null,
      metadata: null,
      token_uri: "ipfs://outside",
    });

    await (await contract.setTokenURI(5, "ipfs://renamed")).wait();
    await eventually(async () => {
      const page = await api.ok<{ nfts: { token_uri: string }[] }>("GET", `/v1/accounts/${to}/${collection}`);
      return page.nfts[0]?.token_uri === "ipfs://renamed" ? true : undefined;
    });
    // The reservation was released: only the two existing copies count.
    const rest = (2n ** 128n - 3n).toString();
    await api.completed("/v1/nfts", { collection_address: collection, to_address: to, token_id: 5, quantity: rest });
    expect(await contract.totalSupply(5)).to.equal(2n ** 128n - 1n);
    await (await contract.create(to, 6, 7, "")).wait();
    const copies = async () => (await record(collection))?.["copies"];
    await eventually(async () => ((await copies()) === (2n ** 128n + 6n).toString() ? true : undefined));
    // The wallet of the owner of the contract burns its own copies.
    await (await contract.create(owner.address, 8, 10, "")).wait();
    await (await contract.burn(owner.address, 8, 4)).wait();
    await eventually(async () => ((await copies()) === (2n ** 128n + 12n).toString() ? true : undefined));
  });
});
