import { expect } from "chai";
import fc from "fast-check";

import type { Command } from "../../../../api/domain/command.ts";
import { CounterDeltas } from "../../../../api/store/db/counters.ts";
import { setHolding } from "../../../../api/store/ledger/ownership.ts";
import { releaseReservation, reserveAgain } from "../../../../api/store/requests/release-reservation.ts";
import {
  reserveErc721Mint,
  reserveErc1155Create,
  reserveErc1155Mint,
  reserveTransfer,
} from "../../../../api/store/requests/reservations.ts";
import { openTestDatabase, type TestDatabase } from "../../../support/database.ts";
import { addApp, addCollection, address, addRequest } from "../support/rows.ts";
import { contents } from "../support/whole.ts";

describe("reservations", function () {
  this.timeout(60_000);
  let database: TestDatabase;

  beforeEach(async () => {
    database = await openTestDatabase();
    await addApp(database);
  });
  afterEach(() => database.remove());

  const hold = (contract: string, tokenId: string, owner: string, quantity: bigint) =>
    database.write(async (trx) => {
      const counters = new CounterDeltas();
      await setHolding(trx, { contract, tokenId, owner }, quantity, 0, counters);
      await counters.flush(trx);
    });

  describe("given a cap and mints that are accepted and fail in any order", () => {
    it("never exceed the cap, refuse exactly what does not fit, and end as they began", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 6 }),
          fc.array(fc.boolean(), { maxLength: 30 }),
          async (cap, wants) => {
            const collection = await addCollection(database, { maxSupply: cap });
            const command: Command = { kind: "mint-erc721", collection, to: address(), metadata: null };
            let held = 0;
            for (const take of wants) {
              if (take) {
                const granted = await database.write((trx) => reserveErc721Mint(trx, collection));
                expect(granted).to.equal(held < cap);
                if (granted) held += 1;
              } else if (held > 0) {
                await database.write((trx) => releaseReservation(trx, command, false));
                held -= 1;
              }
              const row = await database.read
                .selectFrom("collections")
                .select("reserved")
                .where("address", "=", collection)
                .executeTakeFirst();
              expect(row?.reserved).to.equal(held);
            }
          },
        ),
        { numRuns: 30 },
      );
    });
  });

  describe("given a balance and transfers that are accepted and fail in any order", () => {
    it("never promise more than there is, and end as they began", async () => {
      const amount = fc.bigInt({ min: 1n, max: 2n ** 128n - 1n });
      await fc.assert(
        fc.asyncProperty(
          amount,
          fc.array(fc.tuple(fc.boolean(), amount), { maxLength: 20 }),
          async (balance, wants) => {
            const [contract, owner] = [address(), address()];
            await hold(contract, "1", owner, balance);
            const before = (await contents(database)).holdings;
            const granted: bigint[] = [];
            const total = () => granted.reduce((sum, one) => sum + one, 0n);
            const release = (quantity: bigint) =>
              database.write((trx) =>
                releaseReservation(
                  trx,
                  {
                    kind: "transfer",
                    contract,
                    contractType: "ERC1155",
                    foreign: false,
                    from: owner,
                    to: address(),
                    tokenId: "1",
                    quantity: quantity.toString(),
                  },
                  false,
                ),
              );
            for (const [take, quantity] of wants) {
              if (take) {
                const answer = await database.write((trx) =>
                  reserveTransfer(trx, contract, "1", owner, quantity, "ERC1155"),
                );
                expect(answer).to.equal(total() + quantity <= balance ? "ok" : "insufficient_balance");
                if (answer === "ok") granted.push(quantity);
              } else {
                const last = granted.pop();
                if (last !== undefined) await release(last);
              }
            }
            for (const quantity of granted) await release(quantity);
            expect((await contents(database)).holdings).to.deep.equal(before);
          },
        ),
        { numRuns: 30 },
      );
    });
  });

  describe("given two that cannot both succeed", () => {
    it("grant one: an ERC721 token once, an ERC1155 id once", async () => {
      const [contract, owner] = [address(), address()];
      await hold(contract, "1", owner, 1n);
      const transfers = await Promise.all(
        [1, 2].map(() => database.write((trx) => reserveTransfer(trx, contract, "1", owner, 1n, "ERC721"))),
      );
      expect(transfers).to.deep.equal(["ok", "token_busy"]);
      const collection = await addCollection(database, { type: "ERC1155" });
      const command = {
        kind: "create-erc1155",
        collection,
        to: owner,
        tokenId: "9",
        quantity: "1",
        uri: null,
        metadata: null,
      } as const;
      const requests = await Promise.all([1, 2].map(() => addRequest(database, command)));
      const creates = await Promise.all(
        requests.map(({ id }) => database.write((trx) => reserveErc1155Create(trx, { ...command, requestId: id }))),
      );
      expect(creates).to.deep.equal([true, false]);
    });
  });

  describe("given an ERC1155 id that is not on chain yet", () => {
    it("refuses more copies of it, and frees it when its creation fails", async () => {
      const collection = await addCollection(database, { type: "ERC1155" });
      const command = {
        kind: "create-erc1155",
        collection,
        to: address(),
        tokenId: "9",
        quantity: "1",
        uri: null,
        metadata: null,
      } as const;
      const { id } = await addRequest(database, command);
      await database.write((trx) => reserveErc1155Create(trx, { ...command, requestId: id }));
      expect(await database.write((trx) => reserveErc1155Mint(trx, collection, "9", 1n))).to.equal("token_not_found");
      await database.write((trx) => releaseReservation(trx, command, false));
      expect((await contents(database)).nfts).to.deep.equal([]);
    });
  });

  describe("given a reservation that a reorg takes back", () => {
    it("is taken again whatever the limit says, and released down to zero", async () => {
      const [contract, owner] = [address(), address()];
      await hold(contract, "1", owner, 5n);
      const command: Command = {
        kind: "transfer",
        contract,
        contractType: "ERC1155",
        foreign: false,
        from: owner,
        to: address(),
        tokenId: "1",
        quantity: "4",
      };
      const { id } = await addRequest(database, command);
      const reserved = async () => (await contents(database)).holdings.map((row) => row["reserved"]);
      for (const total of ["4", "8"]) {
        await database.write((trx) => reserveAgain(trx, { id, command }));
        expect(await reserved()).to.deep.equal([total]);
      }
      for (const total of ["4", "0", "0"]) {
        await database.write((trx) => releaseReservation(trx, command, false));
        expect(await reserved()).to.deep.equal([total]);
      }
    });
  });
});
