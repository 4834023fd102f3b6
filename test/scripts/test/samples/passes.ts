// Not a test of the project: `pool.test.ts` lets the runner run it.
it("a sample outside of every group", () => undefined);

describe("a sample", () => {
  it("passes", () => undefined);
  it("waits to be written");
});
