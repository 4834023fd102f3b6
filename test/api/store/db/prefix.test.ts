import { expect } from "chai";
import fc from "fast-check";

import { firstAfter } from "../../../../api/store/db/prefix.ts";

describe("firstAfter", () => {
  const cases: [string, string | null][] = [
    ["a", "b"],
    ["az", "a{"],
    ["\u{D7FF}", "\u{E000}"],
    ["a\u{10FFFF}", "b"],
    ["\u{10FFFF}\u{10FFFF}", null],
    ["\u{FFFF}", "\u{10000}"],
  ];
  for (const [prefix, after] of cases) {
    it(`of ${JSON.stringify(prefix)} is ${JSON.stringify(after)}`, () => {
      expect(firstAfter(prefix)).to.equal(after);
    });
  }

  it("is after every text with the prefix, and not after any other text, in the order of bytes", () => {
    const texts = fc.string({ unit: "binary", minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(texts, texts, (prefix, text) => {
        const end = firstAfter(prefix);
        const bytes = Buffer.from(text);
        const isIn = Buffer.from(prefix).compare(bytes) <= 0 && (end === null || bytes.compare(Buffer.from(end)) < 0);
        expect(isIn).to.equal(text.startsWith(prefix));
      }),
    );
  });
});
