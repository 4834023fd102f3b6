import { expect } from "chai";
import { z } from "zod";

import { orderedId, orderedUuid, randomId } from "../../../api/shared/ids.ts";

/** More than the random bytes that are asked for at once. */
const MANY = 1_000;

/** @returns the time with which each id begins. @param make called many times. */
function timesOf(make: () => string): number[] {
  const ids = Array.from({ length: MANY }, make);
  expect(new Set(ids).size).to.equal(MANY);
  return ids.map((id) => Number.parseInt(id.replace("-", "").slice(0, 12), 16));
}

describe("Ids", () => {
  it("randomId returns 64 hex digits, never twice, also when the random bytes are used up", () => {
    const ids = Array.from({ length: MANY }, randomId);
    expect(new Set(ids).size).to.equal(MANY);
    for (const id of ids) expect(id).to.match(/^[0-9a-f]{64}$/);
  });

  for (const [make, form] of [
    [orderedId, /^[0-9a-f]{64}$/],
    [orderedUuid, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/],
  ] as const) {
    it(`${make.name} returns ids that begin with the time, never the same twice`, () => {
      const began = Date.now();
      const times = timesOf(make);
      for (const time of times) expect(time).to.be.within(began, Date.now());
      expect(times).to.deep.equal(times.toSorted((one, other) => one - other));
      expect(make()).to.match(form);
    });
  }

  it("orderedUuid returns what a check of UUIDs accepts", () => {
    expect(z.uuid().parse(orderedUuid())).to.be.a("string");
  });
});
