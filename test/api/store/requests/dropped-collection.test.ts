import { expect } from "chai";

import { rollback } from "../../../../api/store/ledger/rollback.ts";

import { apply, batchOf } from "../../support/blocks.ts";
import { openLedger } from "../../support/ledger.ts";
import { addRequest, creation, randomAddress, requestRow } from "../../support/rows.ts";

describe("a request for a collection whose block is dropped", () => {
  it("names no collection", async () => {
    const database = await openLedger();
    try {
      const { id } = await addRequest(database, creation());
      const { batchId, requests } = await batchOf(database, [id]);
      const outcome = { ok: true, collection: randomAddress(), tokenId: null } as const;
      const outcomes = requests.map((request) => ({ request, outcome }));
      const creating = { batchId, transactionHash: "0x01", blockNumber: 1, timestamp: 1_000, outcomes, untouched: [] };
      await apply(database, { block: 1, batches: [creating] });
      await database.write((trx) => rollback(trx, 0));
      expect(await requestRow(database, id)).to.include({ status: "processing", nft_collection: null });
    } finally {
      await database.remove();
    }
  });
});
