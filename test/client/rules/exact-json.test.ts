import { expect } from "chai";

import { isRawNumber, parseExact } from "../../../client/rules/exact-json.ts";

describe("parseExact", () => {
  for (const text of [
    '{"a":1234567890123456789}',
    '[-1234567890123456789,1e400,"1234567890123456789",{"__proto__":9007199254740993}]',
    '{"a\\\\":"\\"1234567890123456789","b":[[9007199254740993]]}',
    "9007199254740993",
  ]) {
    it(`keeps the digits of ${text}`, () => {
      expect(JSON.stringify(parseExact(text))).to.equal(text);
    });
  }

  it("changes no number that is exact", () => {
    expect(parseExact("[9007199254740991,1.5,-0.25,1e3]")).to.deep.equal([9007199254740991, 1.5, -0.25, 1000]);
    expect(isRawNumber(parseExact("9007199254740993"))).to.equal(true);
  });

  it("refuses what is not JSON", () => {
    for (const text of [
      "{1234567890123456789:1}",
      "12345678901234567890x",
      "[01234567890123456789]",
      '"1234567890123456789',
    ]) {
      expect(() => parseExact(text), text).to.throw(SyntaxError);
    }
  });
});
