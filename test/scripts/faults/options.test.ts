import { expect } from "chai";

import { parseOptions } from "../../../scripts/faults/options.ts";

describe("campaign: parseOptions", () => {
  it("has defaults", () => {
    expect(parseOptions([])).to.include({
      what: "faults",
      engine: "sqlite",
      seed: 1,
      faults: 60,
      requestsPerFault: 40,
    });
    expect(parseOptions([])).to.include({ chain: null, hardfork: null, nodes: 1, minutes: Infinity });
  });

  it("spreads the requests over the faults, at least as many as asked for", () => {
    expect(parseOptions(["--faults", "8", "--requests", "300"])).to.include({ faults: 8, requestsPerFault: 38 });
  });

  it("returns null for --help", () => {
    expect(parseOptions(["--help"])).to.equal(null);
  });

  for (const [option, value] of [
    ["faults", "0"],
    ["faults", "many"],
    ["requests", "1.5"],
    ["seed", ""],
    ["nodes", "4"],
    ["minutes", "0"],
  ] as const) {
    it(`refuses --${option} "${value}" and names the option`, () => {
      expect(() => parseOptions([`--${option}=${value}`])).to.throw(`--${option} must be an integer of at least`);
    });
  }

  it("refuses an engine that does not exist, and names those that do", () => {
    expect(() => parseOptions(["--engine", "mysql"])).to.throw('--engine must be one of sqlite, postgres, not "mysql"');
  });
});
