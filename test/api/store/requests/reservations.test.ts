import { expect } from "chai";
import fc from "fast-check";

import type { CollectionType, CreateErc1155, Transfer } from "../../../../api/domain/command.ts";
import { CounterDeltas } from "../../../../api/store/db/counters.ts";
import { setHoldings } from "../../../../api/store/ledger/holding-set.ts";
import { releaseReservations, reserveAgain } from "../../../../api/store/requests/reservations.ts";
import { triesOnEngine } from "../../../support/engine.ts";
import { contents } from "../../support/contents.ts";
import { addApp, addCollection, addRequest, addReserved, mintOf, randomAddress, reserve } from "../../support/rows.ts";
import { useTestDatabase } from "../../../support/use-database.ts";

function transferOf(contract: string, from: string, quantity: bigint, contractType: CollectionType): Transfer {
  const ends = { from, to: randomAddress(), tokenId: "1", quantity: quantity.toString() };
  return { kind: "transfer", contract, contractType, foreign: false, ...ends };
}

/** The creation of an id with one copy. */
function creationOf(collection: string): CreateErc1155 {
  const token = { to: randomAddress(), tokenId: "9", quantity: "1", uri: null, metadata: null };
  return { kind: "create-erc1155", collection, ...token };
}

describe("reservations", () => {
  const database = useTestDatabase({ prepare: addApp });

  const hold = (contract: string, tokenId: string, owner: string, quantity: bigint) =>
    database.write(async (trx) => {
      const counters = new CounterDeltas();
      await setHoldings(trx, [{ contract, tokenId, owner, quantity, sinceBlock: 0 }], counters);
      await counters.flush(trx);
    });

  describe("given a cap, and mints that are accepted and fail in any order", () => {
    it("never exceed the cap, refuse only what exceeds it, and end at zero", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 6 }),
          fc.array(fc.boolean(), { maxLength: 30 }),
          async (cap, wants) => {
            const collection = await addCollection(database, { maxSupply: cap });
            const command = mintOf(collection);
            let held = 0;
            for (const take of wants) {
              if (take) {
                const answer = await database.write((trx) => reserve(trx, "mint", command));
                expect(answer).to.equal(held < cap ? "ok" : "supply_exceeded");
                if (answer === "ok") held += 1;
              } else if (held > 0) {
                await database.write((trx) => releaseReservations(trx, [{ command, happened: false }]));
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
        { numRuns: triesOnEngine(30) },
      );
    });
  });

  describe("given a balance, and transfers that are accepted and fail in any order", () => {
    it("never exceed the balance, and end at zero when the rest ends together", async () => {
      const amount = fc.bigInt({ min: 1n, max: 2n ** 128n - 1n });
      await fc.assert(
        fc.asyncProperty(
          amount,
          fc.array(fc.tuple(fc.boolean(), amount), { maxLength: 20 }),
          async (balance, wants) => {
            const [contract, owner] = [randomAddress(), randomAddress()];
            await hold(contract, "1", owner, balance);
            const before = (await contents(database)).holdings;
            const granted: bigint[] = [];
            const total = () => granted.reduce((sum, one) => sum + one, 0n);
            const release = (...quantities: bigint[]) => {
              const commands = quantities.map((quantity) => transferOf(contract, owner, quantity, "ERC1155"));
              const releases = commands.map((command) => ({ command, happened: false }));
              return database.write((trx) => releaseReservations(trx, releases));
            };
            for (const [take, quantity] of wants) {
              if (take) {
                const answer = await database.write((trx) =>
                  reserve(trx, "transfer", transferOf(contract, owner, quantity, "ERC1155")),
                );
                expect(answer).to.equal(total() + quantity <= balance ? "ok" : "insufficient_balance");
                if (answer === "ok") granted.push(quantity);
              } else {
                const last = granted.pop();
                if (last !== undefined) await release(last);
              }
            }
            await release(...granted);
            expect((await contents(database)).holdings).to.deep.equal(before);
          },
        ),
        { numRuns: triesOnEngine(30) },
      );
    });
  });

  describe("given two requests that cannot both succeed", () => {
    it("grant one: an ERC721 token once, an ERC1155 id once", async () => {
      const [contract, owner] = [randomAddress(), randomAddress()];
      await hold(contract, "1", owner, 1n);
      const transfers = await Promise.all(
        [1, 2].map(() => database.write((trx) => reserve(trx, "transfer", transferOf(contract, owner, 1n, "ERC721")))),
      );
      expect(transfers).to.deep.equal(["ok", "token_busy"]);
      const collection = await addCollection(database, { type: "ERC1155" });
      const command = creationOf(collection);
      const requests = await Promise.all([1, 2].map(() => addRequest(database, command)));
      const creates = await Promise.all(requests.map(({ id }) => database.write((trx) => reserve(trx, id, command))));
      expect(creates).to.deep.equal(["ok", "token_already_exists"]);
    });
  });

  describe("given an ERC1155 id that is not on chain yet", () => {
    it("refuses more copies of it, and frees it when its creation fails", async () => {
      const collection = await addCollection(database, { type: "ERC1155" });
      const command = creationOf(collection);
      await addReserved(database, command);
      const more = { kind: "mint-erc1155", collection, to: randomAddress(), tokenId: "9", quantity: "1" } as const;
      expect(await database.write((trx) => reserve(trx, "more", more))).to.equal("token_not_found");
      await database.write((trx) => releaseReservations(trx, [{ command, happened: false }]));
      expect((await contents(database)).nfts).to.deep.equal([]);
    });
  });

  describe("given a reservation whose block a reorg drops", () => {
    it("is taken again whatever the limit says, and released down to zero", async () => {
      const [contract, owner] = [randomAddress(), randomAddress()];
      await hold(contract, "1", owner, 5n);
      const command = transferOf(contract, owner, 4n, "ERC1155");
      const { id } = await addRequest(database, command);
      const reserved = async () => (await contents(database)).holdings.map((row) => row["reserved"]);
      for (const total of ["4", "8"]) {
        await database.write((trx) => reserveAgain(trx, [{ id, command }]));
        expect(await reserved()).to.deep.equal([total]);
      }
      for (const total of ["4", "0", "0"]) {
        await database.write((trx) => releaseReservations(trx, [{ command, happened: false }]));
        expect(await reserved()).to.deep.equal([total]);
      }
    });
  });
});
