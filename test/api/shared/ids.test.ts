import { expect } from "chai";

import { orderedId, orderedUuid } from "../../../api/shared/ids.ts";

/** More than the random bytes that are asked for at once. */
const MANY = 1_000;

describe("orderedId", () => {
  it("returns ids that begin with the time, never the same twice", () => {
    const began = Date.now();
    const ids = Array.from({ length: MANY }, orderedId);
    expect(new Set(ids.map((id) => id.slice(12))).size).to.equal(MANY);
    const times = ids.map((id) => Number.parseInt(id.slice(0, 12), 16));
    for (const time of times) expect(time).to.be.within(began, Date.now());
    expect(times).to.deep.equal(times.toSorted((one, other) => one - other));
    for (const id of ids) expect(id).to.match(/^[0-9a-f]{64}$/);
    expect(orderedUuid()).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
