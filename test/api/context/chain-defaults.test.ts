import { expect } from "chai";

import { blockPollOf } from "../../../api/context/chain-defaults.ts";

describe("blockPollOf", () => {
  it("is a second, less on a local chain, and what the setting says on both", () => {
    expect(blockPollOf({ blockPollSeconds: null }, false)).to.equal(1_000);
    expect(blockPollOf({ blockPollSeconds: null }, true)).to.equal(100);
    expect(blockPollOf({ blockPollSeconds: 12 }, true)).to.equal(12_000);
  });
});
