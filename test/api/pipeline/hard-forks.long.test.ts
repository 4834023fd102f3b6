import { expect } from "chai";
import { Wallet } from "ethers";
import { sql } from "kysely";

import { MAX_TRANSACTION_GAS } from "../../../api/domain/gas-estimate.ts";
import { MAX_BATCH } from "../../../api/domain/request.ts";
import { PlainERC721__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC721__factory.ts";
import { PlainERC1155__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC1155__factory.ts";
import type { RequestBody } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import type { OwnService } from "../../support/own-service.ts";
import { useService } from "../../support/use-service.ts";

/** For contracts of others: an estimate is too low where state costs more. */
const DEPLOY = { gasLimit: 16_000_000 };
const CALL = { gasLimit: 1_000_000 };

/** Creates collections, mints, transfers, and changes metadata: everything that the service sends. */
function itDoesTheMainJob(moneta: OwnService): void {
  const { api } = moneta;

  it("creates a hosted collection, mints to new wallets and strangers, transfers and freezes", async () => {
    const [alice, bob] = [await api.wallet(), await api.wallet()];
    const collection = await api.collection({ type: "ERC721", seller_fee_basis_points: 500, fee_recipient: bob });
    const recipients = [alice, bob, await api.wallet(), Wallet.createRandom().address, Wallet.createRandom().address];
    const mints = await Promise.all(recipients.map((to) => api.mint(collection, to, { name: "A" })));
    await api.move(collection, mints[0]?.nft_token_id ?? 0, alice, bob);
    await api.completed(`/v1/collections/${collection}/freeze`, {});
  });

  it("creates a self-hosted ERC1155 collection with long URIs, new ids with and without a URI, copies and a transfer", async () => {
    const [alice, bob] = [await api.wallet(), await api.wallet()];
    const long = `https://app.example/${"x".repeat(900)}`;
    const collection = await api.collection({ type: "ERC1155", base_uri: `${long}{id}`, collection_uri: long });
    await api.create(collection, alice, 1, 3);
    await api.create(collection, alice, 2, 3, { uri: long });
    await api.mint(collection, bob, { token_id: 1, quantity: 2 });
    await api.move(collection, 2, alice, bob, 1);
  });

  it("transfers a foreign token of a wallet that has never delegated", async () => {
    const [alice, bob] = [await api.wallet(), await api.wallet()];
    const plain = await new PlainERC721__factory(await moneta.provider.getSigner(3)).deploy(DEPLOY);
    await (await plain.mint(alice, 7, CALL)).wait();
    await api.move(await plain.getAddress(), 7, alice, bob);
    expect(await plain.ownerOf(7)).to.equal(bob);
  });

  it("counts enough gas: no batch stops before its end", async () => {
    const stopped = sql<{ n: number }>`select count(*) as n from requests where returns > 0`;
    expect((await stopped.execute(moneta.service.database.read)).rows).to.deep.equal([{ n: 0 }]);
  });
}

type Body = Record<string, unknown>;

/** Longest wait for a batch, in milliseconds. */
const PATIENCE = 240_000;
const NUMBERS = Array.from({ length: MAX_BATCH }, (_, index) => index + 1);

function transactionsOf(requests: readonly RequestBody[]): string[] {
  return [...new Set(requests.map(({ transaction_hash: hash }) => hash ?? ""))];
}

/** Batches as large as a transaction may have, of requests of one kind. */
class FullBatches {
  readonly #moneta: OwnService;

  constructor(moneta: OwnService) {
    this.#moneta = moneta;
  }

  /** Expects that all requests complete. The relayer starts when all of them wait. @param accept makes the calls. */
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

  #batch(kind: "nfts" | "transfers" | "burns", item: (number: number, index: number) => Body): Promise<RequestBody[]> {
    return this.#settle(() => this.#moneta.api.acceptBatch(`/v1/${kind}/batch`, NUMBERS.map(item)));
  }

  calls(method: string, path: (number: number) => string, body: (number: number) => Body): Promise<RequestBody[]> {
    const call = async (number: number) =>
      (await this.#moneta.api.ok<{ request_id: string }>(method, path(number), body(number))).request_id;
    return this.#settle(() => Promise.all(NUMBERS.map(call)));
  }

  mints(collection: string, to: (index: number) => string, fields: Body = {}): Promise<RequestBody[]> {
    return this.#batch("nfts", (_, index) => ({ collection_address: collection, to_address: to(index), ...fields }));
  }

  creates(collection: string, owner: string, fields: Body): Promise<RequestBody[]> {
    const created = { collection_address: collection, initial_owner: owner, initial_supply: 2 };
    return this.#batch("nfts", (id) => ({ ...created, token_id: id, ...fields }));
  }

  moves(contract: string, from: string, to: (index: number) => string, fields: Body = {}): Promise<RequestBody[]> {
    const moved = { contract_address: contract, from_address: from, ...fields };
    return this.#batch("transfers", (id, index) => ({ ...moved, to_address: to(index), token_id: id }));
  }

  burns(contract: string, from: (index: number) => string, fields: Body = {}): Promise<RequestBody[]> {
    const burnt = { contract_address: contract, ...fields };
    return this.#batch("burns", (id, index) => ({ ...burnt, from_address: from(index), token_id: id }));
  }
}

/** Requests of each kind that the service sends, as many as a transaction may have. */
function itSettlesFullBatches(moneta: OwnService): void {
  const { api } = moneta;
  const full = new FullBatches(moneta);
  let newHolders: string[];
  before(async () => {
    newHolders = await Promise.all(NUMBERS.map(() => api.wallet()));
  });
  const newHolder = (index: number) => newHolders[index] ?? "";

  for (const soulbound of [false, true]) {
    it(`settles ${soulbound ? "soulbound " : ""}ERC721 mints to new holders, known ones, one and accounts of others`, async () => {
      const [collection, alice] = [await api.collection({ type: "ERC721", soulbound }), await api.wallet()];
      for (const to of [newHolder, newHolder, () => alice, () => Wallet.createRandom().address])
        await full.mints(collection, to);
    });
  }

  it("settles changes of the metadata of ERC721 tokens, and transfers to one holder and to new ones", async () => {
    const [alice, bob] = [await api.wallet(), await api.wallet()];
    const collection = await api.collection({ type: "ERC721" });
    await full.mints(collection, () => alice, { name: "A" });
    const pathOf = (id: number) => `/v1/collections/${collection}/${id.toString()}`;
    await full.calls("PATCH", pathOf, () => ({ name: "B" }));
    await full.moves(collection, alice, () => bob);
    await full.moves(collection, bob, newHolder);
    await full.burns(collection, newHolder);
  });

  it("settles new ERC1155 ids with URIs, copies for new holders, for known ones and for one, and transfers", async () => {
    const [alice, bob] = [await api.wallet(), await api.wallet()];
    const collection = await api.collection({ type: "ERC1155", base_uri: "https://app.example/{id}" });
    await full.creates(collection, alice, { uri: `https://app.example/${"x".repeat(100)}` });
    const copies = { token_id: 1, quantity: 1 };
    await full.mints(collection, newHolder, copies);
    await full.mints(collection, newHolder, copies);
    // The price of the calldata is above what the calls use: a limit by their gas alone is refused (EIP-7976).
    const copied = await full.mints(collection, () => bob, copies);
    expect(transactionsOf(copied), "transactions").to.have.length.below(4);
    await full.moves(collection, alice, () => bob, { amount: 1 });
    await full.burns(collection, () => alice, { amount: 1 });
  });
}

/** The same for what creates contracts, or calls those of others. */
function itSettlesFullBatchesOfContracts(moneta: OwnService): void {
  const { api } = moneta;
  const full = new FullBatches(moneta);

  it("settles new collections with long names, freezes of their metadata, and changes of that of ERC1155 tokens", async () => {
    const fields = { name: "N".repeat(100), symbol: "FULL" };
    const typeOf = (number: number) => (number % 2 === 0 ? "ERC721" : "ERC1155");
    const created = await full.calls(
      "POST",
      () => "/v1/collections",
      (number) => ({ type: typeOf(number), ...fields }),
    );
    const addresses = created.map(({ nft_collection: address }) => String(address));
    await full.calls(
      "POST",
      (number) => `/v1/collections/${addresses[number - 1] ?? ""}/freeze`,
      () => ({}),
    );
    const collection = await api.collection({ type: "ERC1155" });
    await full.creates(collection, await api.wallet(), { name: "A" });
    const pathOf = (id: number) => `/v1/collections/${collection}/${id.toString()}`;
    await full.calls("PATCH", pathOf, () => ({ name: "B" }));
  });

  it("settles transfers and burns of tokens of other contracts", async function () {
    this.timeout(3 * PATIENCE + 60_000);
    const [alice, bob] = [await api.wallet(), await api.wallet()];
    const outsider = await moneta.provider.getSigner(3);
    const erc721 = await new PlainERC721__factory(outsider).deploy(DEPLOY);
    const erc1155 = await new PlainERC1155__factory(outsider).deploy(DEPLOY);
    for (const id of NUMBERS) {
      await erc721.mint(alice, id, CALL);
      await erc1155.mint(bob, id, 2, CALL);
    }
    await full.moves(await erc721.getAddress(), alice, () => bob);
    expect(await erc721.balanceOf(bob)).to.equal(BigInt(MAX_BATCH));
    await full.moves(await erc1155.getAddress(), bob, () => alice, { amount: 1 });
    expect(await erc1155.balanceOf(alice, MAX_BATCH)).to.equal(1n);
    await full.burns(await erc721.getAddress(), () => bob);
    expect(await erc721.balanceOf(bob)).to.equal(0n);
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

    itDoesTheMainJob(moneta);
    itSettlesFullBatches(moneta);
    itSettlesFullBatchesOfContracts(moneta);
  });
});
