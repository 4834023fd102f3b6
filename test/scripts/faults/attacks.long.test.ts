import { expect } from "chai";

import { anvilBinary } from "../../../scripts/scene/anvil.ts";
import { TestProcess } from "../../support/process.ts";

describe("campaign: attacks", () => {
  before(function () {
    if (process.platform !== "linux" || anvilBinary() === null) this.skip();
  });

  it("prints what happened to the attacker, to another app and to the memory", async () => {
    const bench = new TestProcess(["scripts/faults/main.ts", "attacks", "--only", "1e999999999"], {});
    expect(await bench.gone(), bench.output).to.equal(0);
    expect(bench.output).to.match(
      /^\| 50 mints with the number 1e999999999 \| 50 x 422 validation_failed \| \d+\.\d s \| \d+\.\d s \| -?\d+ MiB \|$/m,
    );
  });

  it("refuses an engine that does not exist", async () => {
    const bench = new TestProcess(["scripts/faults/main.ts", "attacks", "--engine", "mysql"], {});
    expect(await bench.gone()).to.equal(2);
    expect(bench.output).to.contain("--engine must be one of sqlite, postgres");
  });
});
