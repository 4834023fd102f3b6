import { expect } from "chai";

// Not a test of the project: `pool.test.ts` lets the runner run it.
describe("a sample", () => {
  it("passes", () => undefined);

  it("fails", () => {
    expect({ cats: 1 }).to.deep.equal({ cats: 2 });
  });

  it("leaves a promise that fails", async () => {
    void Promise.reject(new Error("nobody waits for it"));
    await new Promise(() => undefined);
  });

  describe("given a hook that fails", () => {
    before(() => {
      throw new Error("no set-up");
    });

    it("does not run", () => undefined);
  });
});
