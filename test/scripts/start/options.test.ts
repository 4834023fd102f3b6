import { expect } from "chai";

import { SettingsError } from "../../../api/config/settings.ts";
import { cliCommandLine, readOptions, serviceSettings } from "../../../scripts/start/options.ts";
import { Problem } from "../../../scripts/start/problem.ts";

const DEFAULTS = {
  port: 3000,
  rpcPort: 8545,
  metricsPort: null,
  dataDir: "data/local",
  tour: true,
  fresh: false,
  verbose: false,
};

describe("npm start: readOptions", () => {
  it("has defaults, and reads no other variables", () => {
    expect(readOptions({ DATABASE_URL: "postgres://other", SEED_FILE: "/other" }, [])).to.deep.equal(DEFAULTS);
  });

  it("reads what is set", () => {
    const env = { PORT: "1", RPC_PORT: "2", METRICS_PORT: "3", DATA_DIR: "/d", TOUR: "0" };
    const read = { port: 1, rpcPort: 2, metricsPort: 3, dataDir: "/d", tour: false, fresh: true, verbose: true };
    expect(readOptions(env, ["--verbose", "--fresh"])).to.deep.equal(read);
  });

  it("understands --fresh that npm took for its own", () => {
    expect(readOptions({ npm_config_fresh: "true" }, [])).to.deep.equal({ ...DEFAULTS, fresh: true });
  });

  it("names every argument that it does not know", () => {
    for (const unknown of ["--frehs", "--fresh=no", "-f", "fresh"]) {
      expect(() => readOptions({}, ["--fresh", unknown]), unknown)
        .to.throw(Problem)
        .with.property("message")
        .that.contains(`npm start does not know ${unknown}. \`npm start -- --fresh\` begins`);
    }
  });

  it("names every invalid setting", () => {
    const read = () => readOptions({ PORT: "65536", RPC_PORT: "-1", METRICS_PORT: "x", TOUR: "yes" }, []);
    expect(read)
      .to.throw(SettingsError)
      .with.property("message")
      .that.matches(/^- PORT: must be/m)
      .and.matches(/^- RPC_PORT: must be/m)
      .and.matches(/^- METRICS_PORT: must be/m)
      .and.matches(/^- TOUR: must be 0 or 1$/m);
  });
});

it("npm start gives the CLI the folder of this start, which has its settings", () => {
  expect(cliCommandLine(DEFAULTS, "app list")).to.equal("DATA_DIR=data/local npm run cli -- app list");
  expect(cliCommandLine({ dataDir: "/my data" }, "app list")).to.equal("DATA_DIR='/my data' npm run cli -- app list");
});

describe("npm start: serviceSettings", () => {
  it("keep everything in the data folder, and use the local chain", () => {
    const settings = serviceSettings({ ...DEFAULTS, port: 4000, dataDir: "/d" }, "http://127.0.0.1:8546");
    expect(settings).to.include({ port: 4000, dataDir: "/d", deploymentsDir: "/d/deployments" });
    expect(settings.publicUrl).to.equal("http://localhost:4000");
  });
});
