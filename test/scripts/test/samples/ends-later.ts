// Not a test of the project: `pool.test.ts` lets the runner run it.
describe("a sample", () => {
  it("passes, and ends the process soon after", () => {
    setImmediate(() => setImmediate(() => process.exit(3)));
  });
});
