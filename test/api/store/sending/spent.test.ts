import { expect } from "chai";

import { ensureLane } from "../../../../api/store/sending/lanes.ts";
import { spentSince } from "../../../../api/store/sending/spent.ts";
import { randomAddress } from "../../support/rows.ts";
import { useTestDatabase } from "../../../support/use-database.ts";

describe("spentSince", () => {
  const database = useTestDatabase();
  beforeEach(async () => {
    for (const lane of [0, 1]) await database.write((trx) => ensureLane(trx, lane, randomAddress(), 0));
  });

  interface Sent {
    lane?: number;
    /** The most that each of its attempts can cost, in wei. */
    attempts?: readonly number[];
    /** Null: its receipt was not read. */
    fee?: string | null;
    isOpen?: boolean;
    at?: number;
  }

  /** Batches with nonces in this order. */
  async function addBatches(batches: readonly Sent[]): Promise<void> {
    const rows = batches.map(({ lane = 0, fee = null, isOpen = false, at = 1_000 }, nonce) => ({
      ...({ lane, nonce, size: 1, ran: 1, fee_wei: fee, created_at: at, status: isOpen ? "open" : "closed" } as const),
      ...{ block_number: isOpen ? null : 5, gas_used: fee === null ? null : 1, cost_day: fee === null ? null : 1 },
    }));
    await database.write(async (trx) => {
      const stored = await trx.insertInto("batches").values(rows).returning(["id", "nonce"]).execute();
      const ids = new Map(stored.map(({ id, nonce }) => [nonce, id]));
      const attempts = batches.flatMap(({ attempts = [10], at = 1_000 }, nonce) =>
        attempts.map((cost, index) => ({
          ...{ batch_id: ids.get(nonce) ?? 0, hash: `hash-${nonce.toString()}-${index.toString()}`, raw: "0xabcd" },
          ...{ max_fee_per_gas: (cost / 2).toString(), max_priority_fee_per_gas: "1", gas_limit: "2" },
          ...{ created_at: at, sent_at: at },
        })),
      );
      await trx.insertInto("attempts").values(attempts).execute();
    });
  }

  it("sums the fees, and what the dearest attempt can cost where the fee is not known", async () => {
    await addBatches([
      { fee: "7" },
      { attempts: [10, 40, 4] },
      { fee: "123456789012345678901234567890", attempts: [10, 20] },
      { isOpen: true },
    ]);
    expect(await spentSince(database.read, 0, 0)).to.equal(123456789012345678901234567890n + 47n);
  });

  it("leaves out other lanes, and what was signed before", async () => {
    await addBatches([{ fee: "1", at: 999 }, { fee: "2" }, { fee: "4", lane: 1 }, { fee: "8", at: 1_001 }]);
    expect(await spentSince(database.read, 0, 1_000)).to.equal(10n);
    expect(await spentSince(database.read, 1, 1_000)).to.equal(4n);
    expect(await spentSince(database.read, 2, 0)).to.equal(0n);
  });

  it("reads page after page, whatever the number of attempts", async () => {
    await addBatches(Array.from({ length: 1_001 }, (_, n) => ({ attempts: n % 3 === 0 ? [2, 6, 4] : [6] })));
    expect(await spentSince(database.read, 0, 0)).to.equal(6_006n);
  });
});
