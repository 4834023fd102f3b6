import { expect } from "chai";

import { type Condition, wrapConditions } from "../../../scripts/test/branch-probes.ts";

const SOURCE = `contract C {
    // if (a comment) has no probe
    function f(uint256 a, bool b) external pure returns (uint256) {
        for (uint256 i = 0; i < a; ++i) {
            if (b) break;
        }
        for (uint256 i = 0; ; ++i) {
            while (i == a) return 3;
        }
        return b ? 1 : 2;
    }
}
`;

describe("branch probes", () => {
  it("wrap each condition, and leave a loop without one as it is", () => {
    const found: Condition[] = [];
    const wrapped = wrapConditions("C.sol", SOURCE, found);
    expect(found.toReversed().map(({ line, text }) => `${line.toString()} ${text}`)).to.deep.equal([
      "4 i < a",
      "5 b",
      "8 i == a",
      "10 b",
    ]);
    expect(wrapped.replaceAll(/BranchProbes\.probe\d+\((?<text>[^()]*)\)/gu, "$<text>")).to.equal(SOURCE);
    expect(wrapped).to.include("for (uint256 i = 0; ; ++i)");
  });
});
