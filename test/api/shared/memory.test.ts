import { join } from "node:path";

import { expect } from "chai";

import { Program, ROOT } from "../../../scripts/scene/program.ts";

/** How V8 reports a collection that a program asked for. */
const RELEASED = /GC in old space requested/;

/** A program that releases its memory soon, and is busy for the first `busyMs`. */
function program(busyMs: number): Program {
  const code = `
    import { releaseMemorySoon } from ${JSON.stringify(join(ROOT, "api", "shared", "memory.ts"))};
    releaseMemorySoon();
    setInterval(() => {}, 60_000);
    const until = performance.now() + ${busyMs.toString()};
    const work = () => performance.now() < until ? setImmediate(work) : console.log("idle");
    work();`;
  return new Program(["--trace-gc", "--input-type=module", "--eval", code]);
}

describe("releaseMemorySoon", () => {
  it("gives memory back soon after the start when the thread is idle", async () => {
    const idle = program(0);
    try {
      await idle.printed(RELEASED);
    } finally {
      await idle.end("SIGKILL");
    }
  });

  it("waits for as long as the thread works", async () => {
    const busy = program(3_500);
    try {
      await busy.printed(RELEASED);
      const { output } = busy;
      expect(output.indexOf("idle\n")).to.be.greaterThan(-1).and.lessThan(output.search(RELEASED));
    } finally {
      await busy.end("SIGKILL");
    }
  });
});
