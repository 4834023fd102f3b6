import { atEndOfRun } from "../../../../scripts/scene/end-of-run.ts";

// Not a test of the project: `pool.test.ts` lets the runner run it.
describe("a sample", () => {
  it("passes, and leaves a clean-up that fails", () => {
    atEndOfRun(() => Promise.reject(new Error("a clean-up that fails")));
  });
});
