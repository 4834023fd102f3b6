import { expect } from "chai";

import {
  markSent,
  NonceTaken,
  openBatches,
  recordAttempt,
  recordBatch,
  type SignedAttempt,
} from "../../../../api/store/sending/batches.ts";
import { claimRequests } from "../../../../api/store/sending/claims.ts";
import { closeBatch } from "../../../../api/store/sending/close-batch.ts";
import { ensureLane, type Lease, readLane } from "../../../../api/store/sending/lanes.ts";
import { apply, leaseOf, minedBatch, startAtBlock } from "../../support/blocks.ts";
import { addApp, addCollection, addRequest, mintOf, randomAddress, requestRow } from "../../support/rows.ts";
import { useTestDatabase } from "../../../support/use-database.ts";

describe("batches of a lane", () => {
  const database = useTestDatabase();
  let lease: Lease;
  let collection: string;
  let numbers = 0n;
  beforeEach(async () => {
    await addApp(database);
    collection = await addCollection(database);
    await database.write((trx) => ensureLane(trx, 0, randomAddress(), 7));
    lease = await leaseOf(database);
  });

  const attemptOf = (hash: string): SignedAttempt => {
    return { hash, raw: "0x", maxFeePerGas: 1n, maxPriorityFeePerGas: 1n, gasLimit: 1n };
  };

  /** Puts a new mint into a batch. @returns the request's id, and the batch. */
  async function record(nonce: number, hash: string) {
    const { id } = await addRequest(database, mintOf(collection));
    const { claimed } = await database.write((trx) =>
      claimRequests(trx, lease, { limit: 1, now: 5, nextNumber: () => ++numbers }),
    );
    const batch = { nonce, requests: claimed, weights: [1], attempt: attemptOf(hash) };
    return { id, recorded: database.write((trx) => recordBatch(trx, lease, batch, 1)) };
  }

  it("never have one nonce twice, and leave no gap", async () => {
    const first = await record(7, "0x1");
    await first.recorded;
    for (const nonce of [6, 7, 9]) {
      const { id, recorded } = await record(nonce, `0x${nonce.toString()}`);
      const error: unknown = await recorded.catch((reason: unknown) => reason);
      expect(error, `nonce ${nonce.toString()}`).to.be.instanceOf(NonceTaken);
      expect(await requestRow(database, id)).to.include({ status: "pending", batch_id: null });
    }
    expect((await openBatches(database.read)).map((batch) => batch.nonce)).to.deep.equal([7]);
    expect((await readLane(database.read, 0))?.next_nonce).to.equal(8);
  });

  it("remember that a node has accepted an attempt, whatever others say later", async () => {
    const { attemptId } = await (await record(7, "0x1")).recorded;
    const answer = async () => (await openBatches(database.read))[0]?.attempts[0]?.answer;
    for (const [said, kept] of [
      ["refused", "refused"],
      ["accepted", "accepted"],
      ["refused", "accepted"],
    ] as const) {
      await database.write((trx) => markSent(trx, attemptId, said, 5));
      expect(await answer()).to.equal(kept);
    }
  });

  describe("given a claimed request whose earlier transaction ran after all", () => {
    for (const [state, confirmed] of [
      ["in a block", 0],
      ["final", 3],
    ] as const) {
      it(`leave the transaction that it names when that is ${state}`, async () => {
        const { id, recorded } = await record(7, "0x1");
        const { batchId } = await recorded;
        await database.write((trx) => closeBatch(trx, batchId, { blockNumber: 1, cost: null }, 5));
        const { claimed } = await database.write((trx) =>
          claimRequests(trx, lease, { limit: 1, now: 10, nextNumber: () => ++numbers }),
        );
        expect(claimed.map((request) => request.id)).to.deep.equal([id]);
        await startAtBlock(database, 2);
        const ran = minedBatch(
          { batchId, requests: claimed },
          3,
          () => ({ ok: true, collection, tokenId: "1" }),
          "0x1",
        );
        expect(await apply(database, { block: 3, batches: [ran], confirmed })).to.equal(true);
        const before = await requestRow(database, id);
        const again = { nonce: 8, requests: claimed, weights: [1], attempt: attemptOf("0x2") };
        expect((await database.write((trx) => recordBatch(trx, lease, again, 20))).firstTime).to.deep.equal([]);
        expect(await requestRow(database, id)).to.deep.equal(before);
        expect(before).to.include({ transaction_hash: "0x1", status: confirmed === 0 ? "processing" : "completed" });
      });
    }
  });

  it("get no more attempts once they are closed", async () => {
    const { batchId } = await (await record(7, "0x1")).recorded;
    const replace = (hash: string) => database.write((trx) => recordAttempt(trx, lease, batchId, attemptOf(hash), 5));
    expect(await replace("0x2")).to.be.a("number");
    await database.write((trx) => closeBatch(trx, batchId, { blockNumber: 1, cost: null }, 1_000_000));
    expect(await replace("0x3")).to.equal(null);
    const attempts = await database.read.selectFrom("attempts").select("hash").orderBy("id").execute();
    expect(attempts.map(({ hash }) => hash)).to.deep.equal(["0x1", "0x2"]);
  });
});
