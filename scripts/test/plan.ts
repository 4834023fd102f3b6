import { globSync, readFileSync } from "node:fs";

import type { Engine } from "../../api/store/db/sql.ts";

/** "short": `npm test`. "long": `npm run test:long`, which runs what `npm test` leaves out. */
export type Tier = "short" | "long";

/** Where the databases of a file are. "embedded" is a second version of PostgreSQL. */
export type Place = Engine | "embedded";

/** What one worker runs at a time: a test file, or all tests of the contracts, which Hardhat runs. */
export interface Job {
  path: string;
  place: Place;
  /** Whether it takes minutes. */
  slow: boolean;
}

/** The tests of the contracts, as one job. */
export const CONTRACTS = "test/contracts";

/**
 * Of the name of a file that belongs to the long tier: it kills, pauses or restarts processes, uses several chains or
 * versions, waits long for another reason, or computes for more than 20 seconds.
 */
const LONG = /\.long\.test\.ts$/;
const API = "test/api/";
const STORE = /^test\/api\/store\//;

/** Files that take longest in their tier. They begin first, so that none of them runs alone at the end. */
const SLOWEST = [
  "test/api/pipeline/nodes-agree.long.test.ts",
  "test/api/pipeline/hard-forks.long.test.ts",
  "test/scripts/start-again.long.test.ts",
  "test/api/pipeline/several-nodes.long.test.ts",
  "test/scripts/faults/drill.long.test.ts",
  "test/scripts/client/package.long.test.ts",
  "test/api/store/db/query-times.long.test.ts",
  "test/api/cli/init.long.test.ts",
  "test/api/pipeline/crash.long.test.ts",
  "test/api/pipeline/token-events.long.test.ts",
  "test/api/cli/reconcile-interrupted.long.test.ts",
  "test/api/pipeline/mint-adopted-killed.long.test.ts",
  "test/console/phone.long.test.ts",
  "test/api/relayer/refused-transactions.test.ts",
];

/** What most users do, from the call to the webhook: `npm test` runs these files on PostgreSQL too. */
export const PIPELINE_ON_BOTH = [
  "test/api/pipeline/mint-and-transfer.test.ts",
  "test/api/pipeline/unlockable.test.ts",
  "test/api/pipeline/webhooks.test.ts",
];

/**
 * Files below `test/api` that run on SQLite only: they open no database, or test the chain, HTTP, media, IPFS, settings or
 * programs; the statements that they need also run in other files, which run on both. A new file runs on both.
 */
const SAME_ON_BOTH = [
  /^(?:keys|outbound)\/|^content\/(?:copy\/(?:copy|data|hostile)-|node\/)|^operate\/deploy\/deploy-contracts\./,
  /^relayer\/(?:doubts|lane-share)\.|^v1\/field-messages\.|^store\/db\/prefix\./,
  /^(?:chain|config|shared)\/|^context\/(?:chain-identity|process|run|what-runs)\.|^domain\/|^metrics\/traces\./,
  /^content\/(?:store\/|copy\/(?:announcer|pin|quota)\.|[^/]+$)|^operate\/move-media\./,
  /^cli\/(?:announced|console|deploy|drop(?:-\w+)*|init\.long|keys|listen|media|program|relay|top-up)\./,
  /^indexer\/(?:agreement|attribute|batch-requests|contract-reader|read-ahead|slices(?:-on-chain)?)\./,
  /^pipeline\/(?:hard-forks|hosting-faults|hostile-contracts|ipfs-node|pinning)\./,
  /^pipeline\/(?:receivers|slow-simulation|media-in-bucket|node-stopped|provider-limits|slow-callers)\./,
  /^pipeline\/(?:api-without-seed|factories|outside-transactions|swapped-chain|unreliable-node)\./,
  /^pipeline\/(?:operator-calls|parked-rows|receipts|verified-collections)\./,
  /^relayer\/(?:batch-gas|gas-meter|l1-data|lane-cannot-send|mint-slots|numbers|refused-transactions|slow-node)\./,
  /^relayer\/(?:taken-keys|transactions-in-flight|unmined-transactions)\./,
  /^v1\/(?:broken-http|document|errors|event-stream-slow|full-disk|ipfs(?:-in-browser)?)\./,
  /^v1\/(?:metadata|rate-limit|request-log|slow-callers|uris|upload-media|webhook-sending)\./,
  /^webhooks\/hostile-receivers\./,
];

/** What can differ between two versions of PostgreSQL: plans, migrations, dumps, connections. */
const DIFFERS_BY_VERSION = /^test\/api\/store\/(?:db|move)\//;

/**
 * All jobs of a tier. The two tiers together have each test file on SQLite, and on PostgreSQL each to which the engine can
 * matter, except where a file has tests for the other engine only.
 */
export function jobsOf(tier: Tier): Job[] {
  const files = globSync("test/**/*.test.ts", { exclude: [`${CONTRACTS}/**`] }).map((path) =>
    path.replaceAll("\\", "/"),
  );
  const onSqlite = files.filter((path) => onlyOn(path) !== "postgres");
  const isShort = (path: string) => !LONG.test(path);
  const byEngine = files.filter(
    (path) => path.startsWith(API) && !isSameOnBoth(path.slice(API.length)) && onlyOn(path) !== "sqlite",
  );
  const onBoth = (path: string) => isShort(path) && (STORE.test(path) || PIPELINE_ON_BOTH.includes(path));
  const slowestFirst = (paths: string[]) => [
    ...SLOWEST.filter((path) => paths.includes(path)),
    ...paths.filter((path) => !SLOWEST.includes(path)).sort(),
  ];
  const on = (place: Place, paths: string[]) =>
    slowestFirst(paths).map((path) => ({ path, place, slow: SLOWEST.includes(path) }));
  if (tier === "short") {
    return [
      { path: CONTRACTS, place: "sqlite", slow: true },
      ...on("postgres", byEngine.filter(onBoth)),
      ...on("sqlite", onSqlite.filter(isShort)),
    ];
  }
  return [
    ...on(
      "sqlite",
      onSqlite.filter((path) => !isShort(path)),
    ),
    ...on(
      "postgres",
      byEngine.filter((path) => !onBoth(path)),
    ),
    ...on(
      "embedded",
      byEngine.filter((path) => DIFFERS_BY_VERSION.test(path)),
    ),
  ];
}

/** The engine for which alone a file has tests (`describeOn`); null: it has some for each. */
function onlyOn(file: string): Engine | null {
  const text = readFileSync(file, "utf8");
  if (/^describe[(.]/m.test(text)) return null;
  const engines = new Set([...text.matchAll(/^describeOn\("(sqlite|postgres)"/gm)].map((match) => match[1] as Engine));
  const [engine] = engines;
  return engines.size === 1 && engine !== undefined ? engine : null;
}

function isSameOnBoth(path: string): boolean {
  return SAME_ON_BOTH.some((pattern) => pattern.test(path) || pattern.test(path.replace(".long.", ".")));
}

/**
 * The jobs that names on the command line mean: those of any of the folders or files below `test` (`api/relayer`,
 * `contracts`). With `postgres` among the names, only those on PostgreSQL.
 */
export function named(jobs: readonly Job[], names: readonly string[]): Job[] {
  const paths = names
    .filter((name) => name !== "postgres")
    .map((name) => `test/${name.replace(/^test\//, "").replace(/\/$/, "")}`);
  const isIn = (job: Job, path: string) =>
    job.path === path || job.path.startsWith(`${path}/`) || job.path.startsWith(`${path}.`);
  return jobs
    .filter(({ place }) => place === "postgres" || !names.includes("postgres"))
    .filter((job) => paths.length === 0 || paths.some((path) => isIn(job, path)));
}
