import { expect } from "chai";

import { randomId } from "../../../api/shared/text.ts";

describe("randomId", () => {
  it("returns 64 hex digits, never twice, also when the random bytes are used up", () => {
    const ids = Array.from({ length: 1_000 }, randomId);
    expect(new Set(ids).size).to.equal(1_000);
    for (const id of ids) expect(id).to.match(/^[0-9a-f]{64}$/);
  });
});
