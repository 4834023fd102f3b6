import { expect } from "chai";

import { pruneSome } from "../../../../api/store/retention/prune.ts";
import { addBatch, type BatchState, fillBasics, NOW, REMEMBERED } from "./support.ts";
import { useTestDatabase } from "../../../support/use-database.ts";

/** Batches that must stay whole, by description. */
const KEPT: Record<string, Omit<BatchState, "nonce">> = {
  "a batch that is younger": { age: 29 },
  "a batch in a block that the indexer still compares with the chain": { block: REMEMBERED },
  "an open batch": { block: null, ran: 0, fee: null },
  "a batch that ran nothing": { ran: 0 },
  "a batch whose cost is not known": { fee: null },
};

describe("pruning batches", () => {
  const database = useTestDatabase({ prepare: fillBasics });

  const prune = (kind: "raw_transactions" | "batch_items") =>
    database.write((trx) => pruneSome(trx, kind, { now: NOW, days: 30 }));
  const raws = async () =>
    (await database.read.selectFrom("attempts").select("raw").orderBy("id").execute()).map(({ raw }) => raw);
  const items = async () =>
    (await database.read.selectFrom("batch_items").select("batch_id").orderBy("batch_id").execute()).map(
      (row) => row.batch_id,
    );

  it("removes the bytes of all attempts, and keeps their hashes and fees", async () => {
    await addBatch(database, { nonce: 1 });
    expect(await prune("raw_transactions")).to.deep.equal({ rows: 2, bytes: 12, more: false });
    const attempts = await database.read.selectFrom("attempts").select(["hash", "raw", "gas_limit"]).execute();
    expect(attempts).to.deep.equal([
      { hash: "hash-1-a", raw: null, gas_limit: "3" },
      { hash: "hash-1-b", raw: null, gas_limit: "3" },
    ]);
    expect(await prune("raw_transactions")).to.include({ rows: 0 });
    expect(await items(), "another kind").to.have.length(1);
  });

  it("removes the items, and keeps the batch and its cost", async () => {
    await addBatch(database, { nonce: 1 });
    expect(await prune("batch_items")).to.include({ rows: 1, more: false });
    expect(await items()).to.deep.equal([]);
    const batches = await database.read.selectFrom("batches").select(["fee_wei", "keeps_items", "keeps_raw"]).execute();
    expect(batches).to.deep.equal([{ fee_wei: "7", keeps_items: 0, keeps_raw: 1 }]);
    expect(await prune("batch_items")).to.include({ rows: 0 });
  });

  it("takes a bounded number of batches in each step", async () => {
    for (let nonce = 0; nonce < 12; nonce++) await addBatch(database, { nonce });
    expect(await prune("batch_items")).to.include({ rows: 10, more: true });
    expect(await prune("batch_items")).to.include({ rows: 2, more: false });
  });

  for (const [what, state] of Object.entries(KEPT)) {
    describe(`given ${what}`, () => {
      it("keeps its bytes and its items", async () => {
        const id = await addBatch(database, { nonce: 1, ...state });
        expect(await prune("raw_transactions")).to.include({ rows: 0 });
        expect(await prune("batch_items")).to.include({ rows: 0 });
        expect(await raws()).to.deep.equal(["0xabcd", "0xabcd"]);
        expect(await items()).to.deep.equal([id]);
      });
    });
  }

  describe("given a final status that CONFIRMATIONS has moved away", () => {
    it("keeps what lies above the newest final block", async () => {
      await addBatch(database, { nonce: 1 });
      const confirmed = { key: "confirmed_block", value: (REMEMBERED - 2).toString() };
      await database.write((trx) =>
        trx.updateTable("meta").set(confirmed).where("key", "=", "confirmed_block").execute(),
      );
      expect(await prune("batch_items")).to.include({ rows: 0 });
    });
  });

  describe("given a transaction on chain that the database does not know", () => {
    it("keeps everything: reconcile may go back further than any reorg", async () => {
      await addBatch(database, { nonce: 1 });
      await database.write((trx) =>
        trx.insertInto("meta").values({ key: "unknown_transaction", value: "0x1" }).execute(),
      );
      expect(await prune("raw_transactions")).to.include({ rows: 0 });
      expect(await prune("batch_items")).to.include({ rows: 0 });
    });
  });
});
