import { expect } from "chai";

import { remember } from "../../../api/v1/present.ts";

describe("remember", () => {
  it("computes a result once while it is in use, and drops the least recently used", () => {
    const computed: string[] = [];
    const double = remember(2, (text: string) => {
      computed.push(text);
      return text + text;
    });
    expect(["a", "b", "a", "c", "a"].map(double)).to.deep.equal(["aa", "bb", "aa", "cc", "aa"]);
    expect(computed).to.deep.equal(["a", "b", "c"]);
    expect(double("b")).to.equal("bb");
    expect(computed).to.deep.equal(["a", "b", "c", "b"]);
  });

  it("throws the error of the function each time", () => {
    let calls = 0;
    const fail = remember(2, (): string => {
      calls++;
      throw new Error("wrong");
    });
    expect(() => fail("a")).to.throw("wrong");
    expect(() => fail("a")).to.throw("wrong");
    expect(calls).to.equal(2);
  });
});
