import { join } from "node:path";

import { Program, ROOT } from "../../../scripts/scene/program.ts";

/** How V8 reports a collection that a program asked for. */
const RELEASED = /GC in old space requested/;

const CODE = `
  import { releaseMemorySoon } from ${JSON.stringify(join(ROOT, "api", "shared", "memory.ts"))};
  releaseMemorySoon();
  setInterval(() => {}, 60_000);`;

describe("releaseMemorySoon", () => {
  it("gives memory back soon after the start when the process is idle", async () => {
    const idle = new Program(["--trace-gc", "--input-type=module", "--eval", CODE]);
    try {
      await idle.printed(RELEASED);
    } finally {
      await idle.end("SIGKILL");
    }
  });
});
