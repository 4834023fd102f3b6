import { expect } from "chai";

import { anvilBinary } from "../../../scripts/scene/anvil.ts";
import { TestProcess } from "../../support/process.ts";

describe("campaign: attacks", () => {
  it("prints what happened to the attacker, to another app and to the memory, and what the checker found", async function () {
    if (process.platform !== "linux" || anvilBinary() === null) this.skip();
    const bench = new TestProcess(["scripts/faults/main.ts", "attacks", "--only", "1e999999999"], {});
    expect(await bench.gone(), bench.output).to.equal(0);
    expect(bench.output).to.match(
      /^\| 50 mints with the number 1e999999999 \| 50 x 422 validation_failed \| \d+\.\d s \| \d+\.\d s \| -?\d+ MiB \| nothing lost or doubled \|$/m,
    );
  });
});
