import { join } from "node:path";

import { startBareServer } from "../bare/server-process.ts";
import { Load } from "../load.ts";
import type { Row } from "../row.ts";
import { ServiceProcess } from "../service-process.ts";
import { World } from "../world.ts";
import type { Options, Part } from "./part.ts";

const CONNECTIONS = 64;

/** Calls per second of the API while nothing else runs (`ROLES=api`). Baseline: Express and SQLite alone. */
export const accepting: Part = { name: "accepting", measure: run };

async function run({ quick }: Options): Promise<Row[]> {
  const calls = quick ? 2_000 : 10_000;
  const world = await World.start({ MAX_BACKLOG: "10000000" });
  try {
    const wallet = await world.wallet();
    const collection = await world.collection();
    const body = { collection_address: collection, to_address: wallet };
    // A full page of tokens for the reads below.
    await world.load.run(60, () => ({ method: "POST", path: "/v1/nfts", body }));
    await world.untilCompleted("mint", 60);
    await world.service.stop();
    return await apiAlone(world, body, calls);
  } finally {
    await world.stop();
  }
}

async function apiAlone(
  world: World,
  body: { collection_address: string; to_address: string },
  calls: number,
): Promise<Row[]> {
  const database = join(world.folder, "moneta.sqlite");
  const api = await ServiceProcess.start(
    { ...world.env, ROLES: "api", LOG_LEVEL: "info" },
    join(world.folder, "api-alone.log"),
  );
  const bare = await startBareServer(join(world.folder, "bare.sqlite"), database);
  const [ours, theirs] = [new Load(api.url, CONNECTIONS, world.token), new Load(bare.url, CONNECTIONS)];
  try {
    const mint = () => ({ method: "POST", path: "/v1/nfts", body }) as const;
    const accepted = await rate(ours, calls, mint);
    const inserted = await rate(theirs, calls, () => ({ method: "POST", path: "/mints", body }));
    const read = await rate(ours, calls, () => ({ method: "GET", path: `/v1/accounts/${body.to_address}` }));
    const query = await rate(theirs, calls, () => ({ method: "GET", path: `/contents/${body.to_address}` }));
    const wallets = await rate(ours, Math.floor(calls / 2), () => ({ method: "POST", path: "/v1/accounts", body: {} }));
    return [
      row("mints accepted", accepted, { what: "Express, zod, SQLite with group commit", measured: inserted }, 0.7),
      row("wallet contents read", read, { what: "one prepared query behind Express", measured: query }, 0.5),
      row("wallets created", wallets, { what: "mints accepted", measured: accepted }, 0.5),
    ];
  } finally {
    await ours.close();
    await theirs.close();
    await api.stop();
    await bare.stop();
  }
}

function row(what: string, measured: number, baseline: NonNullable<Row["baseline"]>, atLeast: number): Row {
  return { what, unit: "/s", measured, baseline, goal: { atLeast } };
}

async function rate(load: Load, calls: number, call: () => Parameters<Load["send"]>[0]): Promise<number> {
  await load.run(Math.floor(calls / 10), call); // warms up
  return calls / (await load.run(calls, call));
}
