import { setImmediate as turn } from "node:timers/promises";

import { expect } from "chai";

import { byTurn } from "../../../api/context/run.ts";

describe("byTurn", () => {
  let written: string[];
  let out: ReturnType<typeof byTurn>;
  beforeEach(() => {
    written = [];
    out = byTurn({ write: (text) => written.push(text) });
  });

  it("writes no control characters, so a log that is shown on a terminal gives it no orders", async () => {
    const line = { msg: "\u009b2J\u007f\u202e" };
    out.write(`${JSON.stringify(line)}\n`);
    await turn();
    expect(written.join("").trimEnd()).not.to.match(/[\p{Cc}\p{Bidi_Control}]/u);
    expect(JSON.parse(written.join(""))).to.deep.equal(line);
  });

  it("writes what is left when it is flushed, and only once", async () => {
    out.write("last\n");
    out.flush();
    expect(written).to.deep.equal(["last\n"]);
    await turn();
    out.flush();
    expect(written).to.deep.equal(["last\n"]);
  });
});
