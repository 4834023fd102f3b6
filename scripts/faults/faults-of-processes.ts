import { createServer } from "node:http";
import { setTimeout as wait } from "node:timers/promises";

import { Wallet } from "ethers";

import { CRASH_POINTS, type CrashPoint } from "../../api/shared/crash-point.ts";
import { listenOnLoopback } from "../scene/loopback.ts";
import { poison } from "../scene/poison.ts";
import type { ConnectionFault } from "../scene/postgres-proxy.ts";
import { pause } from "../scene/program.ts";
import { withDatabase } from "../scene/scene.ts";
import { until } from "../scene/until.ts";
import type { Fault } from "./faults.ts";
import { reaching } from "./hostile-contract.ts";
import { LEASE_SECONDS, PROCESS_ROLES, type ProcessRole } from "./service.ts";
import type { World } from "./world.ts";

const LEASE = LEASE_SECONDS * 1_000;
const HOUR = 3_600_000;
/** Milliseconds after the load within which an armed process must reach its crash point. */
const CRASH_TIMEOUT = 4_000;
/** Milliseconds that a fault of the server lasts at most, and one of the disk. */
const [SERVER_DURATION, DISK_DURATION] = [1_500, 700];
/** Connections that the service gets while the server has too few. */
const FEW_CONNECTIONS = 6;
/** Milliseconds, longer than any lease. */
const BEYOND_LEASES = 20_000;
/** Milliseconds within which the second process must take over a lane. */
const TAKEOVER_TIMEOUT = 30_000;
/** SQLite's messages for a refused write. */
const WRITE_REFUSED = /SQLITE_FULL|SQLITE_READONLY|disk is full|readonly database/g;
/** More than the service lets a job kill it. */
const MOST_DEATHS = 10;
/** Longer than a parked row waits for its next try. */
const BEYOND_PARKED = 11 * 60_000;
/** Longest wait for what must happen soon. */
const SOON = { within: 120_000 };

/** Which role reaches the crash points of each prefix. */
const ROLE_OF: Readonly<Record<string, ProcessRole>> = {
  request: "api",
  media: "media",
  relayer: "relayer",
  indexer: "indexer",
  webhooks: "webhooks",
};

/** What happens to processes on both engines. */
export const PROCESS_FAULTS: Fault[] = [
  ...CRASH_POINTS.map((point) => ({
    name: `kill -9 at ${point}`,
    inject: (world: World, load: Promise<unknown>) => crashAt(world, load, point),
  })),
  { name: "the work on a row always fails", inject: failOnRow },
];

/** What happens to the one process and its disk. */
export const SQLITE_FAULTS: Fault[] = [
  { name: "kill -9 at a random time", inject: killAll },
  { name: "media that kill the process", inject: killByMedia },
  ...(["full", "read-only"] as const).map((disk) => ({
    name: disk === "full" ? "disk full" : "database read-only",
    mayFailCalls: true as const,
    inject: (world: World) =>
      countRefusals(world, WRITE_REFUSED, async () => {
        await (await world.service.any("api")).control({ disk });
        await wait(world.random.integer(200, DISK_DURATION));
        await (await world.service.any("api")).control({ disk: "ok" });
      }),
  })),
  { name: "clock jumps", inject: jumpClock },
  { name: "two processes, one lease", inject: shareLease },
];

/** What happens to the processes, their connections and the server. */
export const POSTGRES_FAULTS: Fault[] = [
  ...PROCESS_ROLES.map((role) => ({
    name: `kill -9 of a process: ${role}`,
    inject: async (world: World) => {
      await wait(world.random.integer(0, 400));
      await (await world.service.any(role)).kill();
      await world.service.start();
      return 1;
    },
  })),
  { name: "kill -9 of every process", inject: killAll },
  ...PROCESS_ROLES.map((role) => ({
    name: `SIGSTOP longer than a lease: ${role}`,
    inject: (world: World) => pauseOne(world, role, LEASE + world.random.integer(500, 2_500)),
  })),
  {
    name: "SIGSTOP shorter than a lease",
    inject: (world) => pauseOne(world, world.random.pick(PROCESS_ROLES), world.random.integer(100, LEASE - 1_000)),
  },
  ...(["fast", "immediate"] as const).map((mode) => ({
    name: `server restarts: ${mode}`,
    inject: async (world: World) => {
      await wait(world.random.integer(0, 400));
      await world.service.database.restart(mode);
      return 1;
    },
  })),
  {
    name: "server ends random connections",
    inject: async (world) => {
      let ended = 0;
      for (let round = 0; round < 6; round++) {
        await wait(world.random.integer(50, 250));
        ended += await world.service.database.endConnections(0.3);
      }
      return ended;
    },
  },
  {
    name: "connections drop before a COMMIT",
    inject: (world, load) => faultyConnections(world, load, { kind: "drop-before-commit", probability: 0.1 }),
  },
  {
    name: "connections drop after a COMMIT",
    inject: (world, load) => faultyConnections(world, load, { kind: "drop-after-commit", probability: 0.1 }),
  },
  {
    name: "server does not answer",
    inject: (world) => faultyConnections(world, wait(world.random.integer(1_000, LEASE + 2_000)), { kind: "stall" }),
  },
  {
    name: "server is read-only",
    inject: (world) =>
      countRefusals(world, /\(25006\)/g, async () => {
        await world.service.database.setReadOnly(true);
        await wait(world.random.integer(300, SERVER_DURATION));
        await world.service.database.setReadOnly(false);
      }),
  },
  {
    name: "server has no free connection",
    inject: (world) =>
      countRefusals(world, /\(53300\)|too many connections/g, async () => {
        const { database } = world.service;
        await database.limitConnections(FEW_CONNECTIONS);
        await database.endConnections();
        await wait(world.random.integer(300, SERVER_DURATION));
        await database.limitConnections(-1);
      }),
  },
  { name: "clock of a process jumps", inject: jumpClock },
];

/** The process that does the role's work dies at the point. Another process of the role, if there is one, goes on. */
async function crashAt(world: World, load: Promise<unknown>, point: CrashPoint): Promise<number> {
  const role = ROLE_OF[point.split(":")[0] ?? ""];
  if (role === undefined) throw new Error(`no role reaches the crash point ${point}`);
  const reach = await reaching(world, point);
  const process = await world.service.worker(role);
  await process.control({ crashPoint: point });
  await reach();
  const died = await Promise.race([process.gone().then(() => true), load.then(() => wait(CRASH_TIMEOUT, false))]);
  // The point must not stay armed.
  await process.kill();
  await world.service.start();
  return died ? 1 : 0;
}

async function killAll(world: World): Promise<number> {
  await wait(world.random.integer(0, 400));
  await world.service.restart();
  return world.service.members.length;
}

async function jumpClock(world: World, load: Promise<unknown>): Promise<number> {
  const { process } = world.random.pick(world.service.members);
  await process?.control({ clockOffset: world.random.pick([-HOUR, HOUR, 24 * HOUR, -24 * HOUR]) });
  await load;
  await process?.control({ clockOffset: 0 });
  return 1;
}

/** The first process freezes. A second one, whose clock is ahead, sees the leases expired and takes over the lanes. */
async function shareLease({ service, random }: World, load: Promise<unknown>): Promise<number> {
  await wait(random.integer(0, 200));
  const first = await service.freeze();
  const before = await service.fences("relayer");
  const second = await service.startSecond();
  await second.control({ clockOffset: BEYOND_LEASES });
  const deadline = performance.now() + TAKEOVER_TIMEOUT;
  while ((await service.fences("relayer")) === before && performance.now() < deadline) await wait(20);
  const takenOver = (await service.fences("relayer")) - before;
  // The first process continues and believes that it still has its leases.
  first.signal("SIGCONT");
  await second.control({ clockOffset: 0 });
  await load;
  await (random.chance(0.5) ? second.kill() : second.stop());
  return takenOver;
}

/**
 * Each time that a server is asked for the media of a mint, the process dies, as one that runs out of memory does. The mint must
 * fail after some deaths, and everything beside it must end as without it.
 * @returns how often the process died.
 */
async function killByMedia(world: World, load: Promise<unknown>): Promise<number> {
  const { attacker, service } = world;
  const fetches = { seen: 0 };
  const server = await listenOnLoopback(createServer(() => (fetches.seen += 1)));
  try {
    const image = `${server.url}/bomb.png`;
    const body = { collection_address: attacker.collection, to_address: attacker.wallet, image, copy_media: true };
    const id = await attacker.client.accept("/v1/nfts", body);
    if (id === null) return 0;
    attacker.accepted.push({ id, kind: "mint-that-kills" });
    let deaths = 0;
    for (; deaths < MOST_DEATHS; deaths++) {
      const failed = async () => (await attacker.client.ok("GET", `/v1/requests/${id}`))["status"] === "failed";
      const isFetched = () => fetches.seen > deaths;
      await until("the media are fetched, or their mint fails", async () => isFetched() || (await failed()), SOON);
      if (!isFetched()) break;
      await service.restart();
    }
    await load;
    return deaths;
  } finally {
    await server.stop();
  }
}

/** @returns how often another process took over a lease meanwhile; for a role without leases 1. */
async function pauseOne({ service, random }: World, role: ProcessRole, milliseconds: number): Promise<number> {
  await wait(random.integer(0, 200));
  const process = await service.any(role);
  const before = await service.fences(role);
  await pause(process.pid);
  await wait(milliseconds);
  const takenOver = (await service.fences(role)) - before;
  // It believes that it still has its leases.
  process.signal("SIGCONT");
  return before === 0 || milliseconds < LEASE ? 1 : takenOver;
}

/** @returns how many connections were affected. */
async function faultyConnections(world: World, until: Promise<unknown>, fault: ConnectionFault): Promise<number> {
  const { proxy } = world.service.database;
  proxy.fault = fault;
  await until;
  const { injected } = proxy;
  proxy.fault = null;
  return injected;
}

/** @returns how many refusals the processes logged. */
async function countRefusals(world: World, pattern: RegExp, work: () => Promise<void>): Promise<number> {
  const before = await world.service.countInLogs(pattern);
  await work();
  return (await world.service.countInLogs(pattern)) - before;
}

/** A row that no worker can change is parked; all others are done; once it can be changed, it is done too. @returns 1. */
async function failOnRow(world: World, load: Promise<unknown>): Promise<number> {
  const { attacker, service } = world;
  const to = Wallet.createRandom().address;
  const records = await service.records();
  const count = async (query: string, ...values: string[]) =>
    (await records.one<{ n: number }>(`select count(*) n from ${query}`, ...values)).n;
  try {
    await withDatabase(service.databaseUrl, async (database) => {
      const when = `new.command like '%${to}%'`;
      const cure = await poison(database, { table: "requests", event: "update", when });
      try {
        const id = await attacker.client.accept("/v1/nfts", {
          collection_address: attacker.collection,
          to_address: to,
        });
        if (id === null) throw new Error("the mint was refused");
        attacker.accepted.push({ id, kind: "mint-erc721" });
        await until("the row is parked", async () => (await count("parked_rows where id = ?", id)) === 1, SOON);
        await load;
        await until(
          "all other requests are final",
          async () => {
            await world.mine();
            return (await count("requests where status in ('pending', 'processing')")) === 1;
          },
          SOON,
        );
      } finally {
        await cure();
      }
      await setClocks(world, BEYOND_PARKED);
      await until(
        "the row is done",
        async () => {
          await world.mine();
          return (
            (await count("parked_rows")) + (await count("requests where status in ('pending', 'processing')")) === 0
          );
        },
        SOON,
      );
    });
    return 1;
  } finally {
    await setClocks(world, 0);
    await records.close();
  }
}

async function setClocks(world: World, clockOffset: number): Promise<void> {
  await Promise.all(
    world.service.members.map(async ({ process }) => {
      await process?.control({ clockOffset });
    }),
  );
}
