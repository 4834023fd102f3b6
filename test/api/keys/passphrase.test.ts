import { expect } from "chai";

import { weaknessOf } from "../../../api/keys/passphrase.ts";

describe("weaknessOf", () => {
  for (const [passphrase, isWeak] of [
    ["", true],
    ["correct horse", true],
    ["aaaaaaaaaaaaaaaaaaaaaaaa", true],
    ["abcdefgabcdefgabcdefg", true],
    ["abcdefgh abcdefg", false],
    ["correct horse battery staple", false],
    ["8f0d3bb7a19c4e25b6d7c8e9f0a1b2c3", false],
  ] as const) {
    it(`says that "${passphrase}" is ${isWeak ? "weak" : "good enough"}`, () => {
      expect(weaknessOf(passphrase) !== null).to.equal(isWeak);
    });
  }

  it("says how long it is, and how to make a good one", () => {
    expect(weaknessOf("correct horse")).to.match(/13 characters, 8 of them.*16 and 8 are needed.*openssl rand/s);
  });
});
