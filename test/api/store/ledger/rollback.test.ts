import { expect } from "chai";
import fc from "fast-check";

import type { ChainOutcome } from "../../../../api/domain/request.ts";
import type { SliceToStore } from "../../../../api/store/ledger/apply-range.ts";
import { counterKeys } from "../../../../api/store/db/counters.ts";
import { readMeta, writeMeta } from "../../../../api/store/db/meta.ts";
import { recordForeignHoldings } from "../../../../api/store/ledger/follow.ts";
import { rollback } from "../../../../api/store/ledger/rollback.ts";
import { uncertainOf } from "../../../../api/store/ledger/uncertain.ts";
import { triesOnEngine } from "../../../support/engine.ts";
import { apply, applyAndSettle, batchOf, minedBatch, startAtBlock } from "../../support/blocks.ts";
import { contents, countedTotals } from "../../support/contents.ts";
import { addWalletRow, follow } from "../../support/follow.ts";
import { openLedger, useLedger } from "../../support/ledger.ts";
import { statementCounter } from "../../support/statement-counter.ts";
import {
  addCollection,
  addRequest,
  addReserved,
  APP,
  creation,
  entryOf,
  mintOf,
  randomAddress,
  requestRow,
  reserve,
} from "../../support/rows.ts";

const WALLETS = [randomAddress(), randomAddress(), randomAddress()];
type Entry = SliceToStore["entries"][number];

/** A small chain: who holds how much of which id, so that only possible moves are made. */
class Ledger {
  readonly balances = new Map<string, bigint>();

  entries(
    contract: string,
    steps: { id: number; from: number; to: number; quantity: number }[],
    block: number,
  ): Entry[] {
    return steps.flatMap(({ id, from, to, quantity }): Entry[] => {
      const [sender, receiver] = [WALLETS[from] ?? null, WALLETS[to] ?? null];
      if (sender === null && receiver === null) return [];
      const held = sender === null ? BigInt(quantity) : (this.balances.get(`${id.toString()}/${sender}`) ?? 0n);
      const moved = held < BigInt(quantity) ? held : BigInt(quantity);
      if (moved === 0n) return [];
      if (sender !== null) this.balances.set(`${id.toString()}/${sender}`, held - moved);
      if (receiver !== null) {
        const key = `${id.toString()}/${receiver}`;
        this.balances.set(key, (this.balances.get(key) ?? 0n) + moved);
      }
      const ends = { from: sender, to: receiver };
      const move = { contract, tokenId: id.toString(), ...ends, quantity: moved.toString(), blockNumber: block };
      return [entryOf("ERC1155", move)];
    });
  }
}

const steps = fc.array(
  // Index 3 is nobody: a mint or a burn.
  fc.record({
    id: fc.integer({ min: 1, max: 3 }),
    from: fc.integer({ min: 0, max: 3 }),
    to: fc.integer({ min: 0, max: 3 }),
    quantity: fc.integer({ min: 1, max: 5 }),
  }),
  { maxLength: 8 },
);

describe("rollback", () => {
  const database = useLedger();

  describe("given random mints, transfers and burns", () => {
    it("is the inverse of applying them, and totals always equal the real counts", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 4 }), fc.nat({ max: 3 }), async (blocks, keep) => {
          const own = await openLedger();
          try {
            const contract = await addCollection(own, { type: "ERC1155" });
            const ledger = new Ledger();
            const states = [await contents(own)];
            for (const [index, block] of blocks.entries()) {
              const entries = ledger.entries(contract, block, index + 1);
              expect(await apply(own, { block: index + 1, entries, wallets: new Set(WALLETS) })).to.equal(true);
              states.push(await contents(own));
              expect(await countedTotals(own)).to.deep.equal([]);
              const held = [...ledger.balances.values()].reduce((sum, quantity) => sum + quantity, 0n);
              expect(states.at(-1)?.collections[0]?.copies).to.equal(held.toString());
            }
            const fork = Math.min(keep, blocks.length);
            await own.write((trx) => rollback(trx, fork));
            expect(await contents(own)).to.deep.equal(states[fork]);
            expect(await countedTotals(own)).to.deep.equal([]);
          } finally {
            await own.remove();
          }
        }),
        { numRuns: triesOnEngine(40) },
      );
    });
  });

  describe("given mints that succeeded and failed in a dropped block", () => {
    it("restores every reservation exactly", async () => {
      const to = randomAddress();
      const erc721 = await addCollection(database, { maxSupply: 2 });
      const erc1155 = await addCollection(database, { type: "ERC1155" });
      const create = { kind: "create-erc1155", collection: erc1155, to } as const;
      const [mint, seven, eight] = [
        await addReserved(database, { ...mintOf(erc721, to), metadata: { name: "one" } }),
        await addReserved(database, {
          ...create,
          tokenId: "7",
          quantity: "10",
          uri: null,
          metadata: { name: "seven" },
        }),
        await addReserved(database, { ...create, tokenId: "8", quantity: "3", uri: "ipfs://8", metadata: null }),
      ];
      const batch = await batchOf(database, [mint.id, seven.id, eight.id]);
      const before = await contents(database);
      const ofMint = { contract: erc721, tokenId: "1", from: null, to, requestId: mint.id };
      const ofSeven = { contract: erc1155, tokenId: "7", from: null, to, quantity: "10", requestId: seven.id };
      const outcomes: Record<string, ChainOutcome> = {
        [mint.id]: { ok: true, collection: erc721, tokenId: "1" },
        [seven.id]: { ok: true, collection: erc1155, tokenId: "7" },
        [eight.id]: { ok: false, errorCode: "receiver_rejected", errors: null },
      };
      await apply(database, {
        block: 1,
        batches: [minedBatch(batch, 1, ({ id }) => outcomes[id] ?? null)],
        entries: [entryOf("ERC721", ofMint, { mintedBy: mint }), entryOf("ERC1155", ofSeven, { mintedBy: seven })],
      });
      const columns = ["contract", "token_id", "supply", "reserved"] as const;
      const tokens = await database.read.selectFrom("nfts").select(columns).orderBy("token_id").execute();
      // The failed create has freed its id; the other one has copies instead of a reservation.
      expect(tokens).to.deep.equal([
        { contract: erc721, token_id: "1", supply: "1", reserved: "0" },
        { contract: erc1155, token_id: "7", supply: "10", reserved: "0" },
      ]);
      const quantity = (2n ** 128n - 10n).toString();
      const tooMany = { kind: "mint-erc1155", collection: erc1155, to, tokenId: "7", quantity } as const;
      expect(await database.write((trx) => reserve(trx, "more", tooMany))).to.equal("supply_exceeded");

      await database.write((trx) => rollback(trx, 0));
      // What was told stays told.
      const { counters, ...others } = await contents(database);
      const ofLedger = ([key]: readonly [string, number]) => !key.startsWith("events:");
      expect({ ...others, counters: counters.filter(ofLedger) }).to.deep.equal({
        ...before,
        counters: before.counters.filter(ofLedger),
      });
      const request = await requestRow(database, mint.id);
      expect(request).to.include({ status: "processing", outcome: null, nft_token_id: null });
      const batches = await database.read.selectFrom("batches").select("status").execute();
      expect(batches).to.deep.equal([{ status: "open" }]);
    });
  });

  describe("given a confirmed block", () => {
    it("is never above the fork, and stays where it is below it", async () => {
      await startAtBlock(database, 5);
      for (const [confirmed, expected] of [
        [5, 3],
        [2, 2],
      ] as const) {
        await database.write((trx) => writeMeta(trx, "confirmed_block", confirmed.toString()));
        await database.write((trx) => rollback(trx, 3));
        expect(await readMeta(database.read, "confirmed_block")).to.equal(expected.toString());
        expect(await readMeta(database.read, "checkpoint")).to.equal("3");
      }
    });
  });

  describe("given a dropped block with many requests", () => {
    it("takes as many statements as for one of each kind, as storing them does", async () => {
      const erc721 = await addCollection(database);
      const erc1155 = await addCollection(database, { type: "ERC1155" });
      const { plugin, taken } = statementCounter();
      let id = 0;
      const statements = async (block: number, count: number) => {
        const requests: string[] = [];
        for (let one = 0; one < count; one++) {
          const token = { tokenId: (++id).toString(), quantity: "1", uri: null, metadata: { name: "a" } };
          const create = { kind: "create-erc1155", collection: erc1155, to: randomAddress(), ...token } as const;
          for (const command of [mintOf(erc721), create]) requests.push((await addReserved(database, command)).id);
          requests.push((await addRequest(database, creation())).id);
        }
        const mined = minedBatch(await batchOf(database, requests), block, ({ command: { kind } }) => {
          if (kind === "create-erc1155") return { ok: false, errorCode: "receiver_rejected", errors: null };
          if (kind === "mint-erc721") return { ok: true, collection: erc721, tokenId: "1" };
          return { ok: true, collection: randomAddress(), tokenId: null };
        });
        await database.write((trx) => applyAndSettle(trx.withPlugin(plugin), { block, batches: [mined] }, 1));
        const applied = taken();
        await database.write((trx) => rollback(trx.withPlugin(plugin), block - 1));
        return { applied, undone: taken() };
      };
      const few = await statements(1, 1);
      expect(few.applied).to.be.greaterThan(0);
      expect(await statements(1, 20)).to.deep.equal(few);
    });
  });

  describe("given foreign contracts that were read in dropped blocks", () => {
    it("marks the balances to be read again, also after a crash, and follows the contracts from the fork", async () => {
      await startAtBlock(database, 5);
      const contract = await follow(database, { app: APP });
      const owner = await addWalletRow(database, APP);
      const uncertain = () => uncertainOf(database.read, { contract, owner }, 10);
      await database.write((trx) => recordForeignHoldings(trx, [{ contract, tokenId: "1", owner, quantity: "1" }], 5));
      await database.write((trx) => rollback(trx, 3));
      expect(await uncertain()).to.deep.equal([{ contract, tokenId: "1", owner }]);
      const followed = await database.read.selectFrom("contract_follows").select("followed_from").execute();
      expect(followed).to.deep.equal([{ followed_from: 3 }]);

      await startAtBlock(database, 3);
      await apply(database, { block: 4, foreignHoldings: [{ contract, tokenId: "1", owner, quantity: null }] });
      expect(await uncertain()).to.have.length(1);
      await apply(database, { block: 5, foreignHoldings: [{ contract, tokenId: "1", owner, quantity: 0n }] });
      expect(await uncertain()).to.deep.equal([]);
      const total = await database.read
        .selectFrom("counters")
        .select("value")
        .where("key", "=", counterKeys.holdings(owner))
        .execute();
      expect(total).to.deep.equal([{ value: 0 }]);
    });
  });

  describe("given a mark of a lane's transaction that the database does not know", () => {
    it("removes it with its block, and only with it; the first of two stays meanwhile", async () => {
      await startAtBlock(database, 0);
      const mark = () => readMeta(database.read, "unknown_transaction");
      await apply(database, { block: 1 });
      await apply(database, { block: 2, unknownTransaction: { hash: "0x02", blockNumber: 2 } });
      await apply(database, { block: 3, unknownTransaction: { hash: "0x03", blockNumber: 3 } });
      await database.write((trx) => rollback(trx, 2));
      expect(await mark()).to.equal("0x02");
      await database.write((trx) => rollback(trx, 1));
      expect(await mark()).to.equal(null);
      await apply(database, { block: 2, unknownTransaction: { hash: "0x03", blockNumber: 2 } });
      expect(await mark()).to.equal("0x03");
    });
  });
});
