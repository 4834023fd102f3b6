import fc from "fast-check";

import { openTestDatabase } from "../../../support/database.ts";
import { triesOnEngine } from "../../../support/engine.ts";
import { CostModel } from "../support/cost-model.ts";

const cost = fc.record({
  gas: fc.integer({ min: 0, max: 16_777_216 }),
  feeWei: fc.bigInt({ min: 0n, max: 10n ** 21n }),
});
const weights = fc.array(fc.integer({ min: 1, max: 4_000_000 }), { minLength: 1, maxLength: 4 });
const step: fc.Arbitrary<(model: CostModel) => Promise<void>> = fc.oneof(
  fc.tuple(fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 4 }), weights).map(
    ([apps, of]) =>
      (model: CostModel) =>
        model.sign(apps, of),
  ),
  fc
    .tuple(
      cost,
      fc.array(fc.constantFrom("ok" as const, "fails" as const, "untouched" as const), { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      fc.integer({ min: 0, max: 3 }),
    )
    .map(
      ([real, runs, known, confirmations]) =>
        (model: CostModel) =>
          model.mine(real, runs, known, confirmations),
    ),
  cost.map((real) => (model: CostModel) => model.revert(real)),
  fc.integer({ min: 0, max: 3 }).map((confirmations) => (model: CostModel) => model.cancel(confirmations)),
  fc.integer({ min: 0, max: 3 }).map((depth) => (model: CostModel) => model.reorg(depth)),
  fc.constant((model: CostModel) => model.showReceipts()),
);

describe("shares of costs", () => {
  it("add up to the receipts of the canonical chain, with failures, missing receipts and reorgs of any depth", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        const database = await openTestDatabase();
        try {
          const model = await CostModel.start(database);
          for (const take of steps) {
            await take(model);
            await model.check();
          }
        } finally {
          await database.remove();
        }
      }),
      { numRuns: triesOnEngine(40) },
    );
  });
});
