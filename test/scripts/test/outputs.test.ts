import { expect } from "chai";

import { inOrder, type Output } from "../../../scripts/test/outputs.ts";

describe("outputs of programs that run at the same time", () => {
  let printed: string[];
  let outputs: Output[];

  beforeEach(() => {
    printed = [];
    outputs = inOrder(3, (text) => printed.push(text));
  });

  it("prints the first one at once and keeps the others", () => {
    outputs[1]?.write("b1 ");
    outputs[0]?.write("a1 ");
    outputs[2]?.write("c1 ");
    outputs[0]?.write("a2 ");
    expect(printed.join("")).to.equal("a1 a2 ");
  });

  it("prints what it kept when the one before has ended", () => {
    outputs[1]?.write("b1 ");
    outputs[1]?.end();
    outputs[2]?.write("c1 ");
    outputs[0]?.end();
    expect(printed.join("")).to.equal("b1 c1 ");
    outputs[2]?.write("c2 ");
    expect(printed.join("")).to.equal("b1 c1 c2 ");
  });
});
