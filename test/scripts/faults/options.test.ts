import { expect } from "chai";

import { parseOptions } from "../../../scripts/faults/options.ts";

describe("campaign: parseOptions", () => {
  it("has defaults", () => {
    const defaults = { what: "faults", engine: "sqlite", seed: 1, faults: 60, requestsPerFault: 40 };
    expect(parseOptions([])).to.include({ ...defaults, nodes: 1, minutes: Infinity });
  });

  it("takes texts, and spreads the requests over the faults, at least as many as asked for", () => {
    expect(parseOptions(["--faults", "8", "--requests", "300"])).to.include({ faults: 8, requestsPerFault: 38 });
    expect(parseOptions(["attacks", "--only", "kill", "--only", "rpc"]).only).to.deep.equal(["kill", "rpc"]);
  });

  it("refuses what is not a number in its range, or not a name, and names the option", () => {
    for (const wrong of ["faults=0", "faults=many", "requests=1.5", "seed=", "nodes=4", "minutes=0"])
      expect(() => parseOptions([`--${wrong}`]), wrong).to.throw(/--\w+ <n>.* must be an integer of at least/);
    expect(() => parseOptions(["--engine", "mysql"])).to.throw("Allowed choices are sqlite, postgres.");
  });
});
