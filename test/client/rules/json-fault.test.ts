import { expect } from "chai";

import { faultOfJson } from "../../../client/rules/json-fault.ts";
import { Random } from "../../../scripts/scene/random.ts";

describe("faultOfJson", () => {
  for (const [text, line, column, reason] of [
    ["", 1, 1, "expected a value, found the end of the text"],
    ['{"a": ', 1, 7, "expected a value, found the end of the text"],
    ['{"a": }', 1, 7, "expected a value, found `}`"],
    ['{"a": 1', 1, 8, "expected `,` or `}`, found the end of the text"],
    ['{"a": 1,}', 1, 9, "expected a field name in double quotes, found `}`: remove the comma before it"],
    ["[1, 2,\n ]", 2, 2, "expected a value, found `]`: remove the comma before it"],
    ["{ // a\n}", 1, 3, "expected a field name in double quotes, or `}`, found `/`: JSON has no comments"],
    ["[1 2]", 1, 4, "expected `,` or `]`, found `2`"],
    ["[1}", 1, 3, "expected `,` or `]`, found `}`"],
    ["[)", 1, 2, "expected a value or `]`, found `)`"],
    ["{'a': 1}", 1, 2, "expected a field name in double quotes, or `}`, found `'`"],
    ["{a: 1}", 1, 2, "expected a field name in double quotes, or `}`, found `a`"],
    ['{"a" 1}', 1, 6, "expected `:` after the field name, found `1`"],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, 'expected `,` or `}`, found `"`'],
    ['{\r\n"é🐈": undefined}', 2, 7, "expected a value, found `undefined`"],
    ["[01]", 1, 2, "expected a value or `]`, found `01`"],
    ["[1.]", 1, 2, "expected a value or `]`, found `1.`"],
    ["[nullable_value_of_mine]", 1, 2, "expected a value or `]`, found `nullable_v`"],
    ["{} {}", 1, 4, "expected nothing more after the end of the JSON value, found `{`"],
    ["]", 1, 1, "expected a value, found `]`"],
    ["\ufeff{}", 1, 1, "expected a value, found U+FEFF"],
    ["[“a”]", 1, 2, "expected a value or `]`, found U+201C"],
    ['["a]', 1, 2, "the string that begins here has no closing quote"],
    ['["a\nb"]', 1, 4, "U+000A in a string must be written as an escape"],
    ['["a\\xb"]', 1, 4, "`\\x` is not an escape of JSON"],
    ['["\\u00g0"]', 1, 3, "`\\u` is not an escape of JSON"],
  ] as const) {
    it(`names the place and the reason in ${JSON.stringify(text)}`, () => {
      expect(faultOfJson(text)).to.deep.equal({ line, column, reason });
    });
  }

  it("agrees with JSON.parse about what is JSON, and stays short", () => {
    const random = new Random(7);
    const sample = ' {"a":[1,-2.5e+3,"x\\n\\u00e9",true],"b":{"":null,"c":{}}} ';
    const parts = ['"', "\\", "{", "}", "[", "]", ",", ":", "0", "-", ".", "e", "null", " ", "\n", "é"];
    for (let round = 0; round < 20_000; round++) {
      const at = random.integer(0, sample.length - 1);
      const text = sample.slice(0, at) + random.pick(parts) + sample.slice(at + random.integer(0, 2));
      const fault = faultOfJson(text);
      expect(fault === null, text).to.equal(isJson(text));
      expect(fault?.reason.length ?? 0).to.be.below(100);
    }
  });

  for (const [title, text, line, column] of [
    ["a string with many escapes", `["${"ab\\n".repeat(4_000_000)}", ]`, 1, 16_000_006],
    ["a long string", `["${"é🐈".repeat(4_000_000)}", ]`, 1, 8_000_006],
    ["a string without an end", `["${"a".repeat(16_000_000)}`, 1, 2],
    ["many lines", `${"\n".repeat(16_000_000)}x`, 16_000_001, 1],
    ["a long line of spaces", `${" ".repeat(16_000_000)}x`, 1, 16_000_001],
    ["a long number", `[${"1".repeat(16_000_000)}x]`, 1, 2],
  ] as const) {
    it(`reads ${title} in a text as large as a batch`, () => {
      expect(faultOfJson(text)).to.deep.include({ line, column });
    });
  }
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
