import { expect } from "chai";

import { judgeDisk } from "../../../api/operate/media-checks.ts";

const GIB = 2 ** 30;

describe("doctor: the disk", () => {
  for (const [what, free, result, words] of [
    ["full", GIB / 100, "problem", "The disk is full: 10 MiB (0 %) of the disk of DATA_DIR are free."],
    ["almost full", 5 * GIB, "warning", "Only 5120 MiB (5 %) of the disk of DATA_DIR are free."],
    ["with room", 50 * GIB, "ok", "51200 MiB (50 %) of the disk of DATA_DIR are free"],
  ] as const) {
    it(`is ${what}`, () => {
      const found = judgeDisk({ used: 100 * GIB - free, free });
      expect([found.result, found.words.startsWith(words)], found.words).to.deep.equal([result, true]);
    });
  }

  it("is large, so that a tenth of it is enough", () => {
    expect(judgeDisk({ used: 950 * GIB, free: 50 * GIB }).result).to.equal("ok");
  });
});
