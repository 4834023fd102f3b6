import { expect } from "chai";

import type { ChainOutcome } from "../../../../api/domain/request.ts";
import { rollback } from "../../../../api/store/ledger/rollback.ts";
import { claimRequests } from "../../../../api/store/sending/claims.ts";
import { closeBatch } from "../../../../api/store/sending/close-batch.ts";
import { apply, batchOf, leaseOf, minedBatch } from "../../support/blocks.ts";
import { useLedger } from "../../support/ledger.ts";
import {
  addCollection,
  addRequest,
  addReserved,
  creation,
  mintOf,
  randomAddress,
  requestRow,
} from "../../support/rows.ts";

describe("what blocks make of a request", () => {
  const database = useLedger();
  let collection: string;
  let id: string;
  let batch: Awaited<ReturnType<typeof batchOf>>;

  beforeEach(async () => {
    collection = await addCollection(database);
    ({ id } = await addReserved(database, mintOf(collection)));
    batch = await batchOf(database, [id]);
  });

  const minted = (tokenId: string): ChainOutcome => ({ ok: true, collection, tokenId });
  const refused: ChainOutcome = { ok: false, errorCode: "receiver_rejected", errors: null };

  let forks = 0;
  /** A reorg drops the batch. Then it runs with this outcome in another block. */
  async function comesTo(outcome: ChainOutcome | null, confirmed: number, hash?: string): Promise<void> {
    forks += 1;
    await database.write((trx) => rollback(trx, 0));
    const batches = [minedBatch(batch, 1, () => outcome, hash ?? `0x0${forks.toString()}`)];
    const fork = `fork ${forks.toString()}`;
    expect(await apply(database, { block: 1, fork, confirmed, batches })).to.equal(true);
  }

  it("names the transaction that cancelled its number, also when the same commit stores the batch that skips it", async () => {
    const skipping = minedBatch(batch, 1, () => ({ ok: false, errorCode: "number_taken", errors: null }), "0x02");
    const cancelled = batch.requests.map((request) => ({ request, transactionHash: "0x01", blockNumber: 1 }));
    await apply(database, { block: 1, batches: [skipping], cancelled, confirmed: 1 });
    expect(await requestRow(database, id)).to.include({ status: "failed", transaction_hash: "0x01" });
  });

  it("names no collection whose block was dropped", async () => {
    const request = await addRequest(database, creation());
    const made: ChainOutcome = { ok: true, collection: randomAddress(), tokenId: null };
    const creating = minedBatch(await batchOf(database, [request.id]), 1, () => made);
    await apply(database, { block: 1, batches: [creating] });
    await database.write((trx) => rollback(trx, 0));
    expect(await requestRow(database, request.id)).to.include({ status: "processing", nft_collection: null });
  });

  describe("given the batch was closed before its call", () => {
    it("is claimed again, before later requests", async () => {
      const later = await addReserved(database, mintOf(collection));
      const now = 1_000_000;
      await database.write((trx) => closeBatch(trx, batch.batchId, { blockNumber: 1, cost: null }, now));
      const lease = await leaseOf(database, "next");
      const { claimed } = await database.write((trx) =>
        claimRequests(trx, lease, { limit: 10, now, nextNumber: () => 2n ** 90n }),
      );
      expect(claimed.map((request) => request.id)).to.deep.equal([id, later.id]);
    });
  });

  describe("given reorgs in which the batch runs it, and then does not", () => {
    it("is ready again", async () => {
      await comesTo(null, 0, "0x01");
      expect((await requestRow(database, id)).ready_at).not.to.equal(null);
      // The same bytes ran in another block, this time with enough gas.
      await comesTo(minted("1"), 0, "0x01");
      expect(await requestRow(database, id)).to.include({ status: "processing", ready_at: null, batch_id: null });
      await comesTo(null, 0, "0x01");
      const row = await requestRow(database, id);
      expect(row).to.include({ status: "processing", outcome: null, lane: null, batch_id: null });
      expect(row.ready_at).not.to.equal(null);
    });
  });

  describe("given reorgs of final blocks", () => {
    async function told(): Promise<[string, unknown, unknown][]> {
      const rows = await database.read.selectFrom("events").select("body").orderBy("seq").execute();
      const events = rows.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
      return events
        .filter(({ type }) => type !== "sent")
        .map(({ type, nft_token_id: token, error_code: code }) => [String(type), token, code]);
    }

    it("sends `corrected` each time the id changes, and only then", async () => {
      for (const token of ["1", "2", "2", "3"]) await comesTo(minted(token), 1);
      expect(await told()).to.deep.equal([
        ["completed", 1, undefined],
        ["corrected", 2, undefined],
        ["corrected", 3, undefined],
      ]);
      expect(await requestRow(database, id)).to.include({ status: "completed", nft_token_id: "3" });
    });

    it("sends `corrected` when the effect is gone", async () => {
      for (const outcome of [minted("1"), refused]) await comesTo(outcome, 1);
      expect(await told()).to.deep.equal([
        ["completed", 1, undefined],
        ["corrected", 1, "receiver_rejected"],
      ]);
      expect(await requestRow(database, id)).to.include({ status: "completed", corrected: 1 });
    });

    it("sends `corrected` when a failed call succeeds", async () => {
      for (const outcome of [refused, refused, minted("1")]) await comesTo(outcome, 1);
      expect(await told()).to.deep.equal([
        ["error", undefined, "receiver_rejected"],
        ["corrected", 1, undefined],
      ]);
      // So it cannot be sent again.
      expect(await requestRow(database, id)).to.include({ status: "failed", nft_token_id: "1", corrected: 1 });
    });
  });
});
