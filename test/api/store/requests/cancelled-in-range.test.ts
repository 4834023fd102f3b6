import { expect } from "chai";

import type { TestDatabase } from "../../../support/database.ts";
import { apply, batchOf } from "../../support/blocks.ts";
import { openLedger } from "../../support/ledger.ts";
import { addCollection, addRequest, randomAddress, requestRow, reserve } from "../../support/rows.ts";

describe("a request whose number is cancelled, and whose batch then skips it", () => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await openLedger();
  });
  afterEach(() => database.remove());

  it("names the transaction that cancelled it, also when one commit stores both", async () => {
    const collection = await addCollection(database);
    const command = { kind: "mint-erc721", collection, to: randomAddress(), metadata: null } as const;
    const { id } = await addRequest(database, command);
    await database.write((trx) => reserve(trx, id, command));
    const { batchId, requests } = await batchOf(database, [id]);
    const outcome = { ok: false, errorCode: "number_taken", errors: null } as const;
    const outcomes = requests.map((request) => ({ request, outcome }));
    const skipping = { batchId, transactionHash: "0x02", blockNumber: 1, timestamp: 1_000, outcomes, untouched: [] };
    const cancelled = requests.map((request) => ({ request, transactionHash: "0x01", blockNumber: 1 }));
    await apply(database, { block: 1, batches: [skipping], cancelled, confirmed: 1 });
    expect(await requestRow(database, id)).to.include({ status: "failed", transaction_hash: "0x01" });
  });
});
