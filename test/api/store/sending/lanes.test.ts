import { expect } from "chai";

import { LeaseLost } from "../../../../api/shared/lease.ts";
import { recordAttempt, recordBatch } from "../../../../api/store/sending/batches.ts";
import { closeBatch } from "../../../../api/store/sending/close-batch.ts";
import { claimRequests, returnAbandonedClaims, returnUnsent } from "../../../../api/store/sending/claims.ts";
import type { Trx } from "../../../../api/store/db/sql.ts";
import {
  ensureLane,
  type Lease,
  readLane,
  releaseLease,
  renewLease,
  takeLease,
} from "../../../../api/store/sending/lanes.ts";
import { batchOf } from "../../support/blocks.ts";
import { countedTotals } from "../../support/contents.ts";
import { addApp, addCollection, addRequest, mintOf, randomAddress, requestRow } from "../../support/rows.ts";
import { useTestDatabase } from "../../../support/use-database.ts";

function because(message: string) {
  const errorCode = "execution_reverted" as const;
  const failure = { errorCode, errors: [{ field: "transaction", code: errorCode, message }] };
  return { kind: "fails" as const, failure, cause: null };
}

describe("leases of a lane", () => {
  const database = useTestDatabase();
  let collection: string;

  beforeEach(async () => {
    await addApp(database);
    collection = await addCollection(database);
    await database.write((trx) => ensureLane(trx, 0, randomAddress(), 7));
  });

  const take = (holder: string, now: number, isGone = false) =>
    database.write((trx) => takeLease(trx, 0, holder, { now, lasts: 10 }, () => isGone));
  async function held(holder: string, now: number, isGone = false): Promise<Lease> {
    const lease = await take(holder, now, isGone);
    if (lease === null) throw new Error("it is free");
    return lease;
  }

  describe("given a lease that is held", () => {
    it("is refused to others until it expires, is released, or its holder has ended", async () => {
      const first = await held("a", 0);
      expect(await take("b", 9)).to.equal(null);
      const second = await held("b", 11);
      await database.write((trx) => releaseLease(trx, second));
      const third = await held("c", 12);
      const fourth = await held("d", 12, true);
      expect([first, second, third, fourth].map((lease) => lease.fence)).to.deep.equal([1, 2, 3, 4]);
    });

    it("goes to one of two processes that ask at once", async () => {
      expect((await Promise.all([take("a", 0), take("b", 0)])).map((lease) => lease?.holder)).to.deep.equal([
        "a",
        undefined,
      ]);
    });
  });

  describe("given a lease that another process has taken over", () => {
    it("refuses every write: claim, batch, attempt, return, renewal, release", async () => {
      const { id } = await addRequest(database, mintOf(collection));
      const stale = await held("a", 0);
      const nextNumber = () => 1n;
      const taken = await database.write((trx) => claimRequests(trx, stale, { limit: 10, now: 5, nextNumber }));
      const [claimed] = taken.claimed;
      if (claimed === undefined) throw new Error("one is ready");
      await held("b", 100);
      const attempt = { hash: "0x1", raw: "0x", maxFeePerGas: 1n, maxPriorityFeePerGas: 1n, gasLimit: 1n };
      const writes: Record<string, (trx: Trx) => Promise<unknown>> = {
        claim: (trx) => claimRequests(trx, stale, { limit: 10, now: 5, nextNumber }),
        record: (trx) => recordBatch(trx, stale, { nonce: 7, requests: [claimed], weights: [1], attempt }, 1),
        attempt: (trx) => recordAttempt(trx, stale, 1, attempt, 1),
        fail: (trx) => returnUnsent(trx, stale, [{ request: claimed, ...because("?") }], 1),
        return: (trx) => returnAbandonedClaims(trx, stale, 1),
        renew: (trx) => renewLease(trx, stale, 1_000),
      };
      const before = [await readLane(database.read, 0), await requestRow(database, id)];
      for (const [name, write] of Object.entries(writes)) {
        expect(await database.write(write).catch((error: unknown) => error), name).to.be.instanceOf(LeaseLost);
      }
      await database.write((trx) => releaseLease(trx, stale));
      expect([await readLane(database.read, 0), await requestRow(database, id)]).to.deep.equal(before);
    });
  });

  describe("given requests that were claimed but never signed", () => {
    it("gives them to the next holder under the same numbers", async () => {
      await addRequest(database, mintOf(collection));
      const first = await held("a", 0);
      let number = 40n;
      const options = { limit: 10, now: 5, nextNumber: () => number++ };
      const claim = async (lease: Lease) => (await database.write((trx) => claimRequests(trx, lease, options))).claimed;
      const [before] = await claim(first);
      expect(await claim(first)).to.deep.equal([]);
      const second = await held("b", 100);
      expect(await database.write((trx) => returnAbandonedClaims(trx, second, 5))).to.equal(1);
      const [after] = await claim(second);
      expect([before?.number, after?.number]).to.deep.equal([40n, 40n]);
    });
  });

  describe("given a request that cannot be encoded as a call", () => {
    it("fails it before signing with one event, and postpones it after signing", async () => {
      const [first, second] = [
        await addRequest(database, mintOf(collection)),
        await addRequest(database, mintOf(collection)),
      ];
      const lease = await held("a", 0);
      let number = 1n;
      const { claimed } = await database.write((trx) =>
        claimRequests(trx, lease, { limit: 10, now: 5, nextNumber: () => number++ }),
      );
      const unsigned = claimed.slice(0, 1).map((request) => ({ request, ...because("too long") }));
      await database.write((trx) => returnUnsent(trx, lease, unsigned, 9));
      const failed = await requestRow(database, first.id);
      expect(failed).to.include({ status: "failed", error_code: "execution_reverted", lane: null, ready_at: null });
      expect(failed.errors).to.deep.equal([{ field: "transaction", code: "execution_reverted", message: "too long" }]);
      const signed = claimed.slice(1).map((request) => ({ ...request, status: "processing" as const }));
      const failures = signed.map((request) => ({ request, ...because("?") }));
      await database.write((trx) => returnUnsent(trx, lease, failures, 9));
      expect(await requestRow(database, second.id)).to.include({ status: "pending", ready_at: 600_009, lane: null });
      expect((await database.read.selectFrom("events").select("type").execute()).map((row) => row.type)).to.deep.equal([
        "error",
      ]);
      expect(await countedTotals(database)).to.deep.equal([]);
    });
  });

  describe("given a batch that reverts as a whole, again and again", () => {
    it("returns its requests with exponential backoff", async () => {
      const { id } = await addRequest(database, mintOf(collection));
      const waits: number[] = [];
      for (let round = 0; round < 12; round++) {
        const { batchId } = await batchOf(database, [id]);
        await database.write((trx) => closeBatch(trx, batchId, { blockNumber: 1, cost: null }, 1_000));
        // The first time it keeps its place.
        waits.push(Math.max(0, ((await requestRow(database, id)).ready_at ?? 0) - 1_000));
      }
      expect(waits.slice(0, 5)).to.deep.equal([0, 2_000, 4_000, 8_000, 16_000]);
      expect(waits.at(-1)).to.equal(600_000);
    });
  });
});
