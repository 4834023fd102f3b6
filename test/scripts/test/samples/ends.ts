// Not a test of the project: `pool.test.ts` lets the runner run it.
describe("a sample", () => {
  it("ends the process", () => {
    console.log("last words");
    process.exit(3);
  });
});
