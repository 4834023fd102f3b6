import { expect } from "chai";

import { parseOptions } from "../../../scripts/campaign/options.ts";

describe("campaign: parseOptions", () => {
  it("has defaults", () => {
    expect(parseOptions([])).to.deep.equal({
      engine: "sqlite",
      seed: 1,
      faults: 60,
      requestsPerFault: 40,
      only: null,
      chain: null,
      hardfork: null,
      json: null,
      soak: null,
      nodes: 1,
      minutes: null,
      verbose: false,
    });
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
    ["soak", "1e3"],
    ["minutes", "0"],
  ] as const) {
    it(`refuses --${option} "${value}" and names the option`, () => {
      expect(() => parseOptions([`--${option}=${value}`])).to.throw(`--${option} must be an integer of at least`);
    });
  }

  it("refuses an engine that does not exist, and names those that do", () => {
    expect(() => parseOptions(["--engine", "mysql"])).to.throw('--engine must be one of sqlite, postgres, not "mysql"');
  });

  it("refuses --soak on PostgreSQL", () => {
    expect(() => parseOptions(["--engine", "postgres", "--soak", "5"])).to.throw("--soak runs on SQLite only");
  });
});
