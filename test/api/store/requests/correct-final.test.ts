import { expect } from "chai";

import type { ChainOutcome } from "../../../../api/domain/request.ts";
import { rollback } from "../../../../api/store/ledger/rollback.ts";
import type { TestDatabase } from "../../../support/database.ts";
import { apply, batchOf } from "../../support/blocks.ts";
import { openLedger } from "../../support/ledger.ts";
import { addCollection, addRequest, randomAddress, requestRow, reserve } from "../../support/rows.ts";

describe("correctFinal", () => {
  let database: TestDatabase;
  let collection: string;
  let id: string;
  let batch: Awaited<ReturnType<typeof batchOf>>;

  beforeEach(async () => {
    database = await openLedger();
    collection = await addCollection(database);
    const command = { kind: "mint-erc721", collection, to: randomAddress(), metadata: null } as const;
    ({ id } = await addRequest(database, command));
    await database.write((trx) => reserve(trx, id, command));
    batch = await batchOf(database, [id]);
  });
  afterEach(() => database.remove());

  const minted = (tokenId: string): ChainOutcome => ({ ok: true, collection, tokenId });
  const refused: ChainOutcome = { ok: false, errorCode: "receiver_rejected", errors: null };

  let forks = 0;
  /** A reorg drops the batch. Then it runs with these outcomes in another block, which is final immediately. */
  async function comesTo(outcome: ChainOutcome): Promise<void> {
    forks += 1;
    await database.write((trx) => rollback(trx, 0));
    const outcomes = batch.requests.map((request) => ({ request, outcome }));
    const where = { batchId: batch.batchId, transactionHash: `0x0${forks.toString()}`, blockNumber: 1, timestamp: 1 };
    const fork = `fork ${forks.toString()}`;
    const batches = [{ ...where, outcomes, untouched: [] }];
    expect(await apply(database, { block: 1, fork, confirmed: 1, batches })).to.equal(true);
  }

  async function told(): Promise<[string, unknown, unknown][]> {
    const rows = await database.read.selectFrom("events").select("body").orderBy("seq").execute();
    const events = rows.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
    return events
      .filter(({ type }) => type !== "sent")
      .map(({ type, nft_token_id: token, error_code: code }) => [String(type), token, code]);
  }

  it("sends `corrected` each time the id changes, and only then", async () => {
    for (const token of ["1", "2", "2", "3"]) await comesTo(minted(token));
    expect(await told()).to.deep.equal([
      ["completed", 1, undefined],
      ["corrected", 2, undefined],
      ["corrected", 3, undefined],
    ]);
    expect(await requestRow(database, id)).to.include({ status: "completed", nft_token_id: "3" });
  });

  it("sends `corrected` when the effect is gone", async () => {
    for (const outcome of [minted("1"), refused]) await comesTo(outcome);
    expect(await told()).to.deep.equal([
      ["completed", 1, undefined],
      ["corrected", 1, "receiver_rejected"],
    ]);
    expect(await requestRow(database, id)).to.include({ status: "completed" });
  });

  it("sends `corrected` when a failed call succeeds", async () => {
    for (const outcome of [refused, refused, minted("1")]) await comesTo(outcome);
    expect(await told()).to.deep.equal([
      ["error", undefined, "receiver_rejected"],
      ["corrected", 1, undefined],
    ]);
    expect(await requestRow(database, id)).to.include({ status: "failed", nft_token_id: "1" });
  });
});
