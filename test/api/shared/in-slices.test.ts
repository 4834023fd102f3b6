import { expect } from "chai";

import { mapInSlices } from "../../../api/shared/in-slices.ts";

function work(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

describe("mapInSlices", () => {
  it("returns the results in order, and lets other work run every few items", async () => {
    let others = 0;
    let running = true;
    const other = () => {
      others++;
      if (running) setImmediate(other);
    };
    setImmediate(other);
    const doubled = await mapInSlices(
      Array.from({ length: 20 }, (_, index) => index),
      (item) => {
        work(5);
        return item * 2;
      },
    );
    running = false;
    expect(doubled).to.deep.equal(Array.from({ length: 20 }, (_, index) => index * 2));
    // Two items fill a slice.
    expect(others).to.be.at.least(8);
  });

  it("throws the error of an item", async () => {
    const failed: unknown = await mapInSlices([1, 2], (item) => {
      if (item === 2) throw new RangeError("not 2");
      return item;
    }).catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(RangeError);
  });
});
