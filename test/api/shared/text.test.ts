import { expect } from "chai";
import fc from "fast-check";

import { inOneLine, printable } from "../../../api/shared/text.ts";

const ORDERS = /[\p{Cc}\p{Bidi_Control}]/u;

describe("texts for a terminal", () => {
  it("have no control characters and no change of direction, and keep the rest", () => {
    for (const [text, shown] of [
      ["plain, ünïcode 🦊 עברית", "plain, ünïcode 🦊 עברית"],
      ["\u001b]0;title\u0007", "\\u001b]0;title\\u0007"],
      ["\u009b31m\u007f\r\t", "\\u009b31m\\u007f\\u000d\\u0009"],
      ["\u202egpj.exe\u2066\u200f\u061c", "\\u202egpj.exe\\u2066\\u200f\\u061c"],
    ] as const) {
      expect(printable(text)).to.equal(shown);
      expect(inOneLine(text)).to.equal(shown);
    }
    expect(printable("one\ntwo")).to.equal("one\ntwo");
    expect(inOneLine("one\ntwo")).to.equal("one\\u000atwo");
  });

  it("keep the value of a JSON text", () => {
    fc.assert(
      fc.property(fc.json(), fc.string({ unit: "binary" }), (json, text) => {
        for (const value of [JSON.parse(json) as unknown, { text }]) {
          const shown = printable(JSON.stringify(value));
          expect(shown).not.to.match(ORDERS);
          expect(JSON.parse(shown)).to.deep.equal(value);
        }
      }),
    );
  });
});
