import { gzipSync } from "node:zlib";

import { expect } from "chai";

import { answerText, MAX_ANSWER_BYTES } from "../../../api/shared/answer-text.ts";
import { isStorable } from "../../../client/rules/storable.ts";

/** As the sender calls it. */
function kept(answer: Buffer): string | null {
  return answerText(answer.subarray(0, MAX_ANSWER_BYTES), answer.length <= MAX_ANSWER_BYTES);
}

describe("answerText", () => {
  for (const [answer, expected] of [
    ["", null],
    ["ok", "ok"],
    ["two\r\n\tlines", "two\r\n\tlines"],
    ["<script>alert(1)</script>", "<script>alert(1)</script>"],
    ["a\0b\u001b[2J\u007f\u0085", "a\uFFFDb\uFFFD[2J\uFFFD\uFFFD"],
    ["x".repeat(2_000), "x".repeat(1_024)],
    [`${"x".repeat(1_023)}é`, "x".repeat(1_023)],
    [`${"x".repeat(1_022)}é`, `${"x".repeat(1_022)}é`],
    [`${"x".repeat(1_021)}😀y`, "x".repeat(1_021)],
    [`${"x".repeat(1_020)}😀y`, `${"x".repeat(1_020)}😀`],
  ] as const) {
    it(`keeps ${JSON.stringify(answer.slice(0, 30))} of ${answer.length.toString()} characters`, () => {
      expect(kept(Buffer.from(answer))).to.equal(expected);
    });
  }

  for (const [what, answer] of [
    ["bytes that are not UTF-8", Buffer.alloc(5_000, 0xff)],
    ["a compressed answer", gzipSync(Buffer.alloc(1_000_000, "ok"))],
    ["control characters", Buffer.alloc(1_024, 1)],
    ["every byte", Buffer.from(Array.from({ length: 1_024 }, (_, index) => index % 256))],
    ["parts of surrogate pairs", Buffer.from("eda080edb080".repeat(300), "hex")],
  ] as const) {
    it(`stores ${what} within the limit`, () => {
      const text = kept(answer);
      expect(Buffer.byteLength(text ?? "")).to.be.within(1, MAX_ANSWER_BYTES);
      expect(isStorable(text ?? "")).to.equal(true);
    });
  }
});
