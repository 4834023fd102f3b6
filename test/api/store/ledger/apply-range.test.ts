import { expect } from "chai";

import type { CreateErc1155 } from "../../../../api/domain/command.ts";
import { followContracts, recordForeignHoldings } from "../../../../api/store/ledger/follow.ts";
import { rollback } from "../../../../api/store/ledger/rollback.ts";
import type { StoredRequest } from "../../../../api/store/requests/requests.ts";
import { apply, batchOf, minedBatch } from "../../support/blocks.ts";
import { contents, countedTotals } from "../../support/contents.ts";
import { follow } from "../../support/follow.ts";
import { useLedger } from "../../support/ledger.ts";
import {
  addCollection,
  addRequest,
  addReserved,
  APP,
  creation,
  entryOf,
  randomAddress,
  requestRow,
  reserve,
} from "../../support/rows.ts";

describe("applyRange", () => {
  const database = useLedger();

  async function reservedCreate(
    collection: string,
    quantity: string,
  ): Promise<{ request: StoredRequest; command: CreateErc1155 }> {
    const command: CreateErc1155 = {
      kind: "create-erc1155",
      collection,
      to: randomAddress(),
      tokenId: "5",
      quantity,
      uri: null,
      metadata: { name: "of the request" },
    };
    return { request: await addReserved(database, command), command };
  }

  /** The creation of id 5 in a block. */
  const creationOf = (contract: string, quantity: string, mintedBy: StoredRequest | null = null) => {
    const move = { contract, tokenId: "5", from: null, to: randomAddress(), quantity };
    return entryOf("ERC1155", { ...move, requestId: mintedBy?.id ?? null }, { mintedBy });
  };

  const token = (collection: string) =>
    database.read
      .selectFrom("nfts")
      .select(["request_id", "metadata", "token_uri", "supply", "reserved", "minted_block"])
      .where("contract", "=", collection)
      .where("token_id", "=", "5")
      .executeTakeFirst();

  describe("given a reserved id that another minter created first", () => {
    it("gives the token nothing from the request, and releases the reservation when the request fails", async () => {
      const collection = await addCollection(database, { type: "ERC1155" });
      const { request } = await reservedCreate(collection, "10");
      await apply(database, { block: 1, entries: [creationOf(collection, "2")] });
      expect(await token(collection)).to.deep.equal({
        request_id: null,
        metadata: null,
        token_uri: null,
        supply: "2",
        reserved: "10",
        minted_block: 1,
      });
      const failure = { ok: false, errorCode: "token_already_exists", errors: null } as const;
      const batch = minedBatch(await batchOf(database, [request.id]), 2, () => failure);
      await apply(database, { block: 2, confirmed: 2, batches: [batch] });
      expect(await requestRow(database, request.id)).to.include({
        status: "failed",
        error_code: "token_already_exists",
      });
      expect(await token(collection)).to.include({ supply: "2", reserved: "0", request_id: null });
      const rest = (2n ** 128n - 3n).toString();
      const more = { kind: "mint-erc1155", collection, to: randomAddress(), tokenId: "5", quantity: rest } as const;
      expect(await database.write((trx) => reserve(trx, "more", more))).to.equal("ok");
      expect(await countedTotals(database)).to.deep.equal([]);
    });

    it("keeps the reservation when a reorg drops that creation", async () => {
      const collection = await addCollection(database, { type: "ERC1155" });
      const { request, command } = await reservedCreate(collection, "10");
      await apply(database, { block: 1, entries: [creationOf(collection, "2")] });
      await database.write((trx) => rollback(trx, 0));
      expect(await token(collection)).to.include({ supply: "0", reserved: "10", minted_block: null });
      expect(await database.write((trx) => reserve(trx, request.id, command))).to.equal("token_already_exists");
      await apply(database, { block: 1, fork: "other", entries: [creationOf(collection, "10", request)] });
      expect(await token(collection)).to.include({
        request_id: request.id,
        metadata: '{"name":"of the request"}',
        supply: "10",
      });
    });
  });

  describe("given a collection that was followed as a foreign contract before its block was stored", () => {
    it("forgets the foreign contract, and counts each copy once", async () => {
      const request = await addRequest(database, creation({ type: "ERC1155" }));
      const batch = await batchOf(database, [request.id]);
      const owner = randomAddress();
      const contract = await follow(database, { app: APP, type: "ERC1155" });
      await database.write((trx) => recordForeignHoldings(trx, [{ contract, tokenId: "1", owner, quantity: "3" }], 1));
      await apply(database, {
        block: 1,
        batches: [minedBatch(batch, 1, () => ({ ok: true, collection: contract, tokenId: null }))],
        entries: [entryOf("ERC1155", { contract, tokenId: "1", from: null, to: owner, quantity: "3" })],
      });
      const { holdings } = await contents(database);
      expect(holdings).to.deep.equal([{ contract, token_id: "1", owner, quantity: "3", reserved: "0" }]);
      expect(await database.read.selectFrom("foreign_contracts").selectAll().execute()).to.deep.equal([]);
      // A call that read the contract earlier and stores the result only now.
      await database.write(async (trx) => {
        const known = { type: "ERC1155", name: "?" } as const;
        await followContracts(trx, { appId: APP, contracts: new Map([[contract, known]]), quota: 1, now: 1 });
        await recordForeignHoldings(trx, [{ contract, tokenId: "1", owner, quantity: "9" }], 1);
      });
      expect((await contents(database)).holdings).to.deep.equal(holdings);
      expect(await database.read.selectFrom("foreign_contracts").selectAll().execute()).to.deep.equal([]);
      expect(await countedTotals(database)).to.deep.equal([]);
    });
  });

  describe("given blocks that do not continue what is stored", () => {
    it("changes nothing, although the checkpoint is the block before them", async () => {
      await apply(database, { block: 1 });
      await database.write((trx) => rollback(trx, 0));
      await apply(database, { block: 1, fork: "other" });
      const before = await contents(database);
      expect(await apply(database, { block: 2 })).to.equal(false);
      expect(await contents(database)).to.deep.equal(before);
      expect(await apply(database, { block: 2, fork: "other" })).to.equal(true);
    });
  });

  describe("given the same blocks twice, as two indexers store them", () => {
    it("stores them once", async () => {
      const collection = await addCollection(database);
      const minted = { contract: collection, tokenId: "1", from: null, to: randomAddress() };
      const fields = { block: 1, entries: [entryOf("ERC721", minted)] };
      expect(await Promise.all([apply(database, fields), apply(database, fields)])).to.deep.equal([true, false]);
      expect((await contents(database)).transfers).to.have.length(1);
    });
  });

  describe("given a token URI that an owner replaced", () => {
    it("stores it, and deletes the previous value once no reorg can drop the block", async () => {
      const collection = await addCollection(database, { type: "ERC1155" });
      const edit = { contract: collection, tokenId: "5", column: "token_uri" as const };
      await apply(database, {
        block: 1,
        entries: [creationOf(collection, "2")],
        edits: [{ ...edit, value: "ipfs://first", blockNumber: 1 }],
      });
      await apply(database, { block: 2, edits: [{ ...edit, value: "ipfs://second", blockNumber: 2 }] });
      expect(await token(collection)).to.include({ token_uri: "ipfs://second" });
      await database.write((trx) => rollback(trx, 1));
      expect(await token(collection)).to.include({ token_uri: "ipfs://first" });
      await apply(database, { block: 2, fork: "main", forgetBlocksBefore: 2 });
      expect(await database.read.selectFrom("chain_edits").selectAll().execute()).to.deep.equal([]);
    });
  });
});
