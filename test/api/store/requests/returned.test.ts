import { expect } from "chai";

import { closeBatch } from "../../../../api/store/sending/close-batch.ts";
import { claimRequests } from "../../../../api/store/sending/claims.ts";
import { takeLease } from "../../../../api/store/sending/lanes.ts";
import { rollback } from "../../../../api/store/ledger/rollback.ts";
import type { TestDatabase } from "../../../support/database.ts";
import { apply, batchOf } from "../../support/blocks.ts";
import { openLedger } from "../../support/ledger.ts";
import { addCollection, addRequest, randomAddress, requestRow, reserve } from "../../support/rows.ts";

describe("returned requests", () => {
  let database: TestDatabase;
  let collection: string;

  beforeEach(async () => {
    database = await openLedger();
    collection = await addCollection(database);
  });
  afterEach(() => database.remove());

  async function mint(): Promise<string> {
    const command = { kind: "mint-erc721", collection, to: randomAddress(), metadata: null } as const;
    const { id } = await addRequest(database, command);
    await database.write((trx) => reserve(trx, id, command));
    return id;
  }

  /** A block in which the batch ran: it stopped before the request, or included it. */
  async function ranIn(block: number, fork: string, batch: Awaited<ReturnType<typeof batchOf>>, whole: boolean) {
    const outcomes = whole
      ? batch.requests.map((request) => ({ request, outcome: { ok: true, collection, tokenId: "1" } as const }))
      : [];
    const untouched = whole ? [] : batch.requests;
    const where = { batchId: batch.batchId, blockNumber: block, transactionHash: `0x0${block.toString()}` };
    expect(
      await apply(database, { block, fork, batches: [{ ...where, timestamp: block * 1000, outcomes, untouched }] }),
    ).to.equal(true);
  }

  it("are claimed before later requests", async () => {
    const first = await mint();
    const batch = await batchOf(database, [first]);
    const later = await mint();
    await database.write((trx) => closeBatch(trx, batch.batchId, { blockNumber: 1, cost: null }, 1_000_000));
    const { claimed } = await database.write(async (trx) => {
      const lease = await takeLease(trx, 0, "next", { now: 1, lasts: 1 }, () => true);
      if (lease === null) throw new Error("the lane is free");
      return claimRequests(trx, lease, { limit: 10, now: 1_000_000, nextNumber: () => 2n ** 90n });
    });
    expect(claimed.map(({ id }) => id)).to.deep.equal([first, later]);
  });

  describe("given reorgs in which their batch runs them, and then does not", () => {
    it("are ready again", async () => {
      const id = await mint();
      const batch = await batchOf(database, [id]);
      await ranIn(1, "main", batch, false);
      expect((await requestRow(database, id)).ready_at).not.to.equal(null);
      await database.write((trx) => rollback(trx, 0));
      // The same bytes ran in another block, this time with enough gas.
      await ranIn(1, "second", batch, true);
      expect(await requestRow(database, id)).to.include({ status: "processing", ready_at: null, batch_id: null });
      await database.write((trx) => rollback(trx, 0));
      await ranIn(1, "third", batch, false);
      const row = await requestRow(database, id);
      expect(row).to.include({ status: "processing", outcome: null, lane: null, batch_id: null });
      expect(row.ready_at).not.to.equal(null);
    });
  });
});
