import { globSync, readFileSync } from "node:fs";

import { expect } from "chai";

import { CONTRACTS, type Job, jobsOf, named, PIPELINE_ON_BOTH } from "../../../scripts/test/plan.ts";

/** All tests of each are in `describeOn("postgres", ...)`. */
const POSTGRES_ONLY = [
  "test/api/operate/collect-media-race.test.ts",
  "test/api/pipeline/database-restarts.long.test.ts",
  "test/api/pipeline/database-roles.long.test.ts",
  "test/api/pipeline/lost-commits.long.test.ts",
  "test/api/store/db/concurrent-writes.test.ts",
  "test/api/store/db/postgres-close.test.ts",
  "test/api/store/db/postgres-plans.test.ts",
  "test/api/store/media/blocks.test.ts",
  "test/api/store/outbox/feed-order.test.ts",
  "test/api/store/outbox/webhook-races.test.ts",
];

describe("the plan of the tests", () => {
  const short = jobsOf("short");
  const long = jobsOf("long");
  const paths = (jobs: Job[], place: Job["place"]) => jobs.filter((job) => job.place === place).map(({ path }) => path);

  it("has each file on SQLite in one of the two tiers, but those that have tests for PostgreSQL only", () => {
    const files = globSync("test/**/*.test.ts", { exclude: [`${CONTRACTS}/**`] }).filter(
      (path) => !POSTGRES_ONLY.includes(path),
    );
    expect([...paths(short, "sqlite"), ...paths(long, "sqlite")]).to.have.members([CONTRACTS, ...files]);
    expect(paths(short, "sqlite").filter((path) => path.endsWith(".long.test.ts"))).to.deep.equal([]);
  });

  it("has no job twice", () => {
    const names = [...short, ...long].map(({ path, place }) => `${place} ${path}`);
    expect(new Set(names).size).to.equal(names.length);
  });

  it("has the store and what most users do on PostgreSQL in the short tier", () => {
    const onBoth = paths(short, "postgres");
    expect(onBoth).to.include.members([...PIPELINE_ON_BOTH, "test/api/store/db/row-set.test.ts"]);
    expect(onBoth.filter((path) => !path.startsWith("test/api/store/"))).to.have.members(PIPELINE_ON_BOTH);
  });

  it("runs files on PostgreSQL in the long tier unless they are listed as the same on both", () => {
    const onPostgres = paths(long, "postgres");
    expect(onPostgres).to.include.members([
      "test/api/cli/reconcile-interrupted.long.test.ts",
      "test/api/pipeline/crash.long.test.ts",
      "test/api/pipeline/lost-commits.long.test.ts",
      "test/api/v1/requests.test.ts",
    ]);
    // docs/console.md promises these races on both engines.
    expect(onPostgres).to.include("test/api/v1/console-session.test.ts");
    expect(onPostgres).not.to.include("test/api/v1/metadata.test.ts");
    expect(onPostgres).not.to.include("test/api/pipeline/pinning.long.test.ts");
  });

  it("runs no file on an engine for which it has no test", () => {
    const elsewhere = [...short, ...long].filter(({ path, place }) => {
      if (path === CONTRACTS) return false;
      const suites = [...readFileSync(path, "utf8").matchAll(/^describe(?:On\("(\w+)")?/gm)].map((match) => match[1]);
      // Some files begin with a loop around `describe`.
      return (
        suites.length > 0 &&
        !suites.some((engine) => engine === undefined || (engine === "sqlite") === (place === "sqlite"))
      );
    });
    expect(elsewhere).to.deep.equal([]);
  });

  describe("named", () => {
    const jobs: Job[] = [
      { path: CONTRACTS, place: "sqlite", slow: false },
      { path: "test/api/relayer/lane.test.ts", place: "sqlite", slow: false },
      { path: "test/api/relayer-x/lane.test.ts", place: "sqlite", slow: false },
      { path: "test/api/store/a.test.ts", place: "postgres", slow: false },
      { path: "test/api/store/a.test.ts", place: "sqlite", slow: false },
    ];
    const [contracts, lane, laneX, storeOnPostgres, store] = jobs;

    const cases: [string, (Job | undefined)[]][] = [
      ["", jobs],
      ["api/relayer contracts", [contracts, lane]],
      ["api/store postgres", [storeOnPostgres]],
      ["api/relayer postgres", []],
      ["api/relayer/", [lane]],
      ["test/api/relayer/lane.test.ts", [lane]],
      ["api/relayer/lane", [lane]],
      ["api/relayer-x", [laneX]],
      ["api/store", [storeOnPostgres, store]],
      ["api/nothing", []],
    ];
    it("finds what names mean", () => {
      for (const [name, expected] of cases)
        expect(named(jobs, name.split(" ").filter(Boolean)), name).to.deep.equal(expected);
    });
  });
});
