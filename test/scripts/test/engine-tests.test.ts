import { globSync, readFileSync } from "node:fs";

import { expect } from "chai";

import { ENGINE_FILE, engineTests, filesOf, GENERATED } from "../../../scripts/test/engine-tests.ts";

const EVERY_API_TEST = "test/api/**/*.test.ts";
/** Connections of both engines, and the programs of the service: who uses none of them has no database. */
const USES_DATABASE = /new BetterSqlite3\(|new (?:pg\.)?(?:Pool|Client)\(|"api\/(?:cli\/)?main\.ts"/;

describe("engineTests", () => {
  let chosen: string[];
  let leftOut: string[];

  before(() => {
    chosen = engineTests([EVERY_API_TEST]);
    leftOut = globSync(EVERY_API_TEST).filter((file) => !chosen.includes(file));
  });

  it("chooses tests of every kind that use a database", () => {
    expect(chosen).to.include.members([
      "test/api/store/db/row-set.test.ts",
      "test/api/pipeline/restart.long.test.ts",
      "test/api/v1/pages.test.ts",
      "test/api/cli/doctor.test.ts",
      "test/api/checks/readiness.test.ts",
    ]);
  });

  it("leaves out tests that use none", () => {
    expect(leftOut).to.include.members([
      "test/api/domain/request.test.ts",
      "test/api/keys/sealer.test.ts",
      "test/api/config/settings.test.ts",
    ]);
  });

  it("leaves out nothing that uses a database", () => {
    const uses = leftOut.flatMap((file) =>
      [...filesOf(file)]
        .filter((imported) => imported.endsWith(".ts") && !GENERATED.test(imported))
        .filter((imported) => USES_DATABASE.test(readFileSync(imported, "utf8")))
        .map((imported) => `${file} imports ${imported}`),
    );
    expect(uses).to.deep.equal([]);
  });

  it("relies on the only file that reads TEST_ENGINE", () => {
    const readers = globSync("{api,test}/**/*.ts").filter((file) =>
      /env\b[^\n]*\bTEST_ENGINE\b/.test(readFileSync(file, "utf8")),
    );
    expect(readers).to.deep.equal([ENGINE_FILE]);
  });
});
