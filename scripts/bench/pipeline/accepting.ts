import { join } from "node:path";

import { type BareServer, startBareServer } from "./bare/server-process.ts";
import { type Call, Load } from "../harness/load.ts";
import { profile, profileAt } from "../harness/profile.ts";
import type { Row } from "../harness/row.ts";
import { ServiceProcess } from "../harness/service-process.ts";
import { type UsagePerRequest, usagePerRequest } from "../harness/usage.ts";
import { World } from "../harness/world.ts";
import type { Options, Part } from "../harness/part.ts";

const CONNECTIONS = 64;
/** The service and its baseline are measured in turns, so that a slow moment of the machine affects both. */
const TURNS = 5;
const NAMES = { sqlite: "SQLite", postgres: "PostgreSQL" };

/**
 * Calls per second of the API while nothing else runs (`ROLES=api`), and the CPU time of a call, which depends less on
 * what else the machine does. Baseline: Express and the same engine alone.
 */
export const accepting: Part = { name: "accepting", measure: run };

async function run({ quick, profiles, databases }: Options): Promise<Row[]> {
  const calls = quick ? 2_500 : 10_000;
  const world = await World.start({ databases, settings: { MAX_BACKLOG: "10000000" } });
  try {
    const wallet = await world.wallet();
    const collection = await world.collection();
    const body = { collection_address: collection, to_address: wallet };
    // A full page of tokens for the reads below.
    await world.load.run(60, () => ({ method: "POST", path: "/v1/nfts", body }));
    await world.untilCompleted("mint", 60);
    await world.stopProcesses();
    return await apiAlone(world, body, calls, { profiles, databases });
  } finally {
    await world.stop();
  }
}

async function apiAlone(
  world: World,
  body: { collection_address: string; to_address: string },
  calls: number,
  { profiles, databases: { engine } }: Pick<Options, "profiles" | "databases">,
): Promise<Row[]> {
  const api = await ServiceProcess.start(
    { ...world.env, LOG_LEVEL: "info" },
    join(world.folder, "api-alone.log"),
    "api",
  );
  if (api.url === null) throw new Error("the service does not answer HTTP calls");
  const bare = await startBareServer({ database: world.env.DATABASE_URL, file: join(world.folder, "bare.sqlite") });
  const [ours, theirs] = [
    new Side(api, new Load([api.url], CONNECTIONS, world.token)),
    new Side(bare, new Load([bare.url], CONNECTIONS)),
  ];
  const owner = body.to_address;
  try {
    const [accepted, inserted] = await inTurns(calls, [
      [ours, { method: "POST", path: "/v1/nfts", body }, profileAt(profiles, "mints-accepted")],
      [theirs, { method: "POST", path: "/mints", body }, null],
    ]);
    const [read, query] = await inTurns(calls, [
      [ours, { method: "GET", path: `/v1/accounts/${owner}` }, profileAt(profiles, "contents-read")],
      [theirs, { method: "GET", path: `/contents/${owner}` }, null],
    ]);
    const [wallets] = await inTurns(Math.floor(calls / 2), [
      [ours, { method: "POST", path: "/v1/accounts", body: {} }, profileAt(profiles, "wallets-created")],
    ]);
    return [
      ...rows(
        "mint accepted",
        accepted,
        { what: `Express, zod, ${NAMES[engine]} with group commit`, ...inserted },
        0.7,
      ),
      ...rows("wallet contents read", read, { what: "one prepared query behind Express", ...query }, 0.5),
      ...rows("wallet created", wallets, { what: "mint accepted", ...accepted }, 0.5),
    ];
  } finally {
    await ours.load.close();
    await theirs.load.close();
    await api.stop();
    await bare.stop();
  }
}

class Side {
  readonly #process: Pick<BareServer, "instruments">;
  readonly load: Load;

  constructor(process: Pick<BareServer, "instruments">, load: Load) {
    this.#process = process;
    this.load = load;
  }

  get instruments(): BareServer["instruments"] {
    return this.#process.instruments;
  }
}

interface Measured {
  rate: number;
  usage: UsagePerRequest;
}

type Work = [side: Side, call: Call, profile: string | null];

/** @returns the measurement of each side, in the order of `works`. */
async function inTurns<const W extends Work[]>(calls: number, works: W): Promise<{ [Key in keyof W]: Measured }> {
  const each = Math.ceil(calls / TURNS);
  const seconds = works.map(() => 0);
  for (const [{ load }, call] of works) await load.run(Math.floor(calls / 5), () => call); // warms up
  const before = await Promise.all(works.map(([{ instruments }]) => instruments.usage()));
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [index, [{ load }, call]] of works.entries()) {
      seconds[index] = (seconds[index] ?? 0) + (await load.run(each, () => call));
    }
  }
  const after = await Promise.all(works.map(([{ instruments }]) => instruments.usage()));
  // A profiler slows the process down, so it runs afterwards.
  for (const [{ instruments, load }, call, file] of works) {
    await profile(instruments, file, () => load.run(calls, () => call));
  }
  const measured = works.map((_, index) => {
    const [from, to, spent] = [before[index], after[index], seconds[index]];
    if (from === undefined || to === undefined || spent === undefined) throw new Error("a side was not measured");
    return { rate: (each * TURNS) / spent, usage: usagePerRequest(from, to, each * TURNS) };
  });
  return measured as { [Key in keyof W]: Measured };
}

/** Its rate, and the CPU time of a call. */
function rows(what: string, measured: Measured, baseline: Measured & { what: string }, atLeast: number): Row[] {
  return [
    {
      what: `${what}, rate`,
      unit: "/s",
      measured: measured.rate,
      baseline: { what: baseline.what, measured: baseline.rate },
      goal: { atLeast },
      usage: { ...measured.usage, nodeCpuMs: null },
    },
    {
      what: `${what}, CPU`,
      unit: "ms",
      measured: measured.usage.cpuMs,
      baseline: { what: baseline.what, measured: baseline.usage.cpuMs },
      goal: null,
    },
  ];
}
