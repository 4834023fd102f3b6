import { expect } from "chai";
import { type JsonRpcSigner, Wallet } from "ethers";
import { sql } from "kysely";

import { MAX_TRANSACTION_GAS } from "../../../api/domain/gas-estimate.ts";
import { MAX_BATCH } from "../../../api/domain/request.ts";
import type { PlainERC721 } from "../../../types/ethers-contracts/mocks/PlainERC721.ts";
import type { PlainERC1155 } from "../../../types/ethers-contracts/mocks/PlainERC1155.ts";
import { PlainERC721__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC721__factory.ts";
import { PlainERC1155__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC1155__factory.ts";
import type { RequestBody } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import type { OwnService } from "../../support/own-service.ts";
import type { ServiceFixture } from "../../support/service.ts";
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

type Body = Record<string, unknown>;

/** Longest wait for a batch, in milliseconds. */
const PATIENCE = 240_000;

const NUMBERS = Array.from({ length: MAX_BATCH }, (_, index) => index + 1);

/** Fills batches with requests of one kind. The relayer starts when all of them wait. */
class FullBatches {
  readonly #moneta: OwnService;

  constructor(moneta: OwnService) {
    this.#moneta = moneta;
  }

  async mint(items: Body[]): Promise<RequestBody[]> {
    return this.#settle(() => this.#moneta.api.acceptBatch("/v1/nfts/batch", items));
  }

  async transfer(items: Body[]): Promise<RequestBody[]> {
    return this.#settle(() => this.#moneta.api.acceptBatch("/v1/transfers/batch", items));
  }

  async burn(items: Body[]): Promise<RequestBody[]> {
    return this.#settle(() => this.#moneta.api.acceptBatch("/v1/burns/batch", items));
  }

  async call(calls: { method: string; path: string; body: Body }[]): Promise<RequestBody[]> {
    const accept = async ({ method, path, body }: (typeof calls)[number]) =>
      (await this.#moneta.api.ok<{ request_id: string }>(method, path, body)).request_id;
    return this.#settle(() => Promise.all(calls.map(accept)));
  }

  /** Expects that all requests complete. @param accept makes the calls while nothing is sent. */
  async #settle(accept: () => Promise<string[]>): Promise<RequestBody[]> {
    const moneta = this.#moneta;
    await moneta.restart({ ROLES: "api" });
    const ids = await accept();
    expect(ids).to.have.length(MAX_BATCH);
    await moneta.restart();
    const { read } = moneta.service.database;
    const rows = await eventually(async () => {
      const columns = ["id", "status", "error_code", "returns"] as const;
      const found = await read.selectFrom("requests").select(columns).where("id", "in", ids).execute();
      return found.every(({ status }) => status === "completed" || status === "failed") ? found : undefined;
    }, PATIENCE);
    // A request that returned was in a transaction that ran out of gas before its last call.
    const ends = rows.map((row) => `${row.status} ${String(row.error_code)}, ${row.returns.toString()} returns`);
    expect(new Set(ends)).to.deep.equal(new Set(["completed null, 0 returns"]));
    const settled = await Promise.all(ids.map((id) => moneta.api.ok<RequestBody>("GET", `/v1/requests/${id}`)));
    for (const hash of transactionsOf(settled)) {
      const transaction = await moneta.provider.getTransaction(hash);
      expect(Number(transaction?.gasLimit), "gas limit").to.be.within(1, MAX_TRANSACTION_GAS);
    }
    return settled;
  }
}

/** Requests of each kind that the service sends, as many as a transaction may have. */
function itSettlesFullBatches(moneta: OwnService): void {
  const { api } = moneta;
  const full = new FullBatches(moneta);
  let [alice, bob] = ["", ""];
  let newHolders: string[];

  before(async () => {
    [alice, bob] = [await api.wallet(), await api.wallet()];
    newHolders = await Promise.all(NUMBERS.map(() => api.wallet()));
  });

  for (const soulbound of [false, true]) {
    it(`settles ${soulbound ? "soulbound " : ""}ERC721 mints to new holders, known ones, one and accounts of others`, async () => {
      const collection = await api.collection({ type: "ERC721", soulbound });
      const mint = (to: string) => ({ collection_address: collection, to_address: to });
      await full.mint(newHolders.map(mint));
      await full.mint(newHolders.map(mint));
      await full.mint(NUMBERS.map(() => mint(alice)));
      await full.mint(NUMBERS.map(() => mint(Wallet.createRandom().address)));
    });
  }

  it("settles changes of the metadata of ERC721 tokens, and transfers to one holder and to new ones", async () => {
    const collection = await api.collection({ type: "ERC721" });
    await full.mint(NUMBERS.map(() => ({ collection_address: collection, to_address: alice, name: "A" })));
    const pathOf = (id: number) => `/v1/collections/${collection}/${id.toString()}`;
    await full.call(NUMBERS.map((id) => ({ method: "PATCH", path: pathOf(id), body: { name: "B" } })));
    const move = (id: number, from: string, to: string) => ({
      ...{ contract_address: collection, from_address: from, to_address: to },
      token_id: id,
    });
    await full.transfer(NUMBERS.map((id) => move(id, alice, bob)));
    await full.transfer(NUMBERS.map((id, index) => move(id, bob, newHolders[index] ?? "")));
    const burn = (id: number, from: string) => ({ contract_address: collection, from_address: from, token_id: id });
    await full.burn(NUMBERS.map((id, index) => burn(id, newHolders[index] ?? "")));
  });

  it("settles new ERC1155 ids with URIs, copies for new holders, for known ones and for one, and transfers", async () => {
    const collection = await api.collection({ type: "ERC1155", base_uri: "https://app.example/{id}" });
    const uri = `https://app.example/${"x".repeat(100)}`;
    const created = { collection_address: collection, initial_owner: alice, initial_supply: 2, uri };
    await full.mint(NUMBERS.map((id) => ({ ...created, token_id: id })));
    const copies = (to: string) => ({ collection_address: collection, to_address: to, token_id: 1, quantity: 1 });
    await full.mint(newHolders.map(copies));
    await full.mint(newHolders.map(copies));
    // The price of the calldata is above what the calls use: a limit by their gas alone is refused (EIP-7976).
    const copied = await full.mint(NUMBERS.map(() => copies(bob)));
    expect(transactionsOf(copied), "transactions").to.have.length.below(4);
    const move = { contract_address: collection, from_address: alice, to_address: bob, amount: 1 };
    await full.transfer(NUMBERS.map((id) => ({ ...move, token_id: id })));
    const burn = { contract_address: collection, from_address: alice, amount: 1 };
    await full.burn(NUMBERS.map((id) => ({ ...burn, token_id: id })));
  });
}

/** What creates contracts, or calls those of others. */
function itSettlesFullBatchesOfContracts(moneta: OwnService): void {
  const { api } = moneta;
  const full = new FullBatches(moneta);

  it("settles new collections with long names, and freezes of their metadata", async () => {
    const fields = { name: "N".repeat(100), symbol: "FULL" };
    const typeOf = (number: number) => (number % 2 === 0 ? "ERC721" : "ERC1155");
    const created = await full.call(
      NUMBERS.map((number) => ({ method: "POST", path: "/v1/collections", body: { type: typeOf(number), ...fields } })),
    );
    const pathOf = ({ nft_collection: address }: RequestBody) => `/v1/collections/${String(address)}/freeze`;
    await full.call(created.map((request) => ({ method: "POST", path: pathOf(request), body: {} })));
  });

  it("settles changes of the metadata of ERC1155 tokens", async () => {
    const collection = await api.collection({ type: "ERC1155" });
    const created = { collection_address: collection, initial_owner: await api.wallet(), initial_supply: 2, name: "A" };
    await full.mint(NUMBERS.map((id) => ({ ...created, token_id: id })));
    const pathOf = (id: number) => `/v1/collections/${collection}/${id.toString()}`;
    await full.call(NUMBERS.map((id) => ({ method: "PATCH", path: pathOf(id), body: { name: "B" } })));
  });

  describe("tokens of other contracts", function () {
    this.timeout(PATIENCE + 60_000);
    let [alice, bob] = ["", ""];
    let erc721: PlainERC721;
    let erc1155: PlainERC1155;

    before(async () => {
      [alice, bob] = [await api.wallet(), await api.wallet()];
      const outsider = await moneta.provider.getSigner(3);
      const deploy = { gasLimit: 16_000_000 };
      erc721 = await new PlainERC721__factory(outsider).deploy(deploy);
      erc1155 = await new PlainERC1155__factory(outsider).deploy(deploy);
      const mint = { gasLimit: 1_000_000 };
      for (const id of NUMBERS) {
        await erc721.mint(alice, id, mint);
        await erc1155.mint(bob, id, 2, mint);
      }
    });

    it("settles transfers of ERC721 tokens", async () => {
      const move = { contract_address: await erc721.getAddress(), from_address: alice, to_address: bob };
      await full.transfer(NUMBERS.map((id) => ({ ...move, token_id: id })));
      expect(await erc721.balanceOf(bob)).to.equal(BigInt(MAX_BATCH));
    });

    it("settles transfers of ERC1155 tokens", async () => {
      const move = { contract_address: await erc1155.getAddress(), from_address: bob, to_address: alice, amount: 1 };
      await full.transfer(NUMBERS.map((id) => ({ ...move, token_id: id })));
      expect(await erc1155.balanceOf(alice, MAX_BATCH)).to.equal(1n);
    });

    it("settles burns", async () => {
      const burn = { contract_address: await erc721.getAddress(), from_address: bob };
      await full.burn(NUMBERS.map((id) => ({ ...burn, token_id: id })));
      expect(await erc721.balanceOf(bob)).to.equal(0n);
    });
  });
}

function transactionsOf(requests: readonly RequestBody[]): string[] {
  return [...new Set(requests.map(({ transaction_hash: hash }) => hash ?? ""))];
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

    itDoesTheMainJob(moneta);
    itSettlesFullBatches(moneta);
    itSettlesFullBatchesOfContracts(moneta);
  });
});
