import { setTimeout as wait } from "node:timers/promises";

import { CRASH_POINTS } from "../../api/shared/crash-point.ts";
import { LimitedProvider, type ProviderLimits } from "../nodes/limited-provider.ts";
import type { NodeKind } from "../nodes/node-process.ts";
import { attackByContract } from "./hostile-contract.ts";
import type { RpcFault } from "./proxy.ts";
import { CONFIRMATIONS, type World } from "./world.ts";

/** Something that goes wrong while requests are in progress. */
export interface Fault {
  name: string;
  /** The only node that can produce it. Absent: both can. */
  only?: NodeKind;
  /**
   * Injects the fault and ends it before the promise resolves. `load` resolves when the round's calls are accepted.
   * @returns how often it took effect. A fault that never takes effect tests nothing.
   */
  inject(world: World, load: Promise<unknown>): Promise<number>;
}

const BROADCAST = ["eth_sendRawTransaction"];

const RPC_FAULTS: Record<string, RpcFault> = {
  "rpc drops calls": { kind: "drop", probability: 0.3 },
  "rpc delays calls": { kind: "delay", probability: 0.5, amount: 400 },
  "rpc runs calls twice": { kind: "duplicate", probability: 0.5 },
  "rpc answers 500": { kind: "status-500", probability: 0.3 },
  "rpc answers 429": { kind: "status-429", probability: 0.3 },
  "rpc answers garbage": { kind: "garbage", probability: 0.3 },
  "rpc loses a broadcast after answering": { kind: "lose-broadcast", probability: 0.7, methods: BROADCAST },
  "rpc accepts a broadcast, answers an error": {
    kind: "answer-broadcast-with-error",
    probability: 0.7,
    methods: BROADCAST,
  },
  "rpc hides receipts": { kind: "hide-receipts", probability: 1, methods: ["eth_getTransactionReceipt"] },
  "rpc lags behind": { kind: "lag", probability: 0.5, methods: ["eth_blockNumber"], amount: 2 },
  "rpc answers an old nonce": { kind: "old-nonce", probability: 0.8, methods: ["eth_getTransactionCount"] },
};

/** Limits of a small plan. One block of the load can have more logs than a query may find. */
const PROVIDER_LIMITS: ProviderLimits = { blocks: 10, addresses: 1, results: 100, batch: 12, callsPerSecond: 60 };
/** Blocks that are mined while the limits apply. */
const BLOCKS_BEHIND_LIMITS = 40;

/** Milliseconds, longer than any lease. */
const BEYOND_LEASES = 20_000;
/** Milliseconds within which the second process must take over a lane. */
const TAKEOVER_TIMEOUT = 3_000;
/** SQLite's messages for a refused write. */
const WRITE_REFUSED = /SQLITE_FULL|SQLITE_READONLY|disk is full|readonly database/g;

/** Milliseconds that a fault of the node or the disk lasts at most. */
const DURATION = 700;

export const FAULTS: Fault[] = [
  ...CRASH_POINTS.map((point) => ({
    name: `kill -9 at ${point}`,
    inject: async (world: World, load: Promise<unknown>) => {
      // The process that will crash starts in the middle of the load.
      await world.restart({ CRASH_POINT: point });
      const died = await Promise.race([world.api.gone().then(() => true), load.then(() => wait(4_000, false))]);
      await world.restart();
      return died ? 1 : 0;
    },
  })),
  {
    name: "kill -9 at a random time",
    inject: async (world) => {
      await wait(world.random.integer(0, 400));
      await world.restart();
      return 1;
    },
  },
  ...Object.entries(RPC_FAULTS).map(([name, fault]) => ({
    name,
    inject: async (world: World, load: Promise<unknown>) => {
      world.proxy.fault = fault;
      // The service asks for nonces at start-up and rarely afterwards.
      if (fault.kind === "old-nonce") await world.restart();
      await Promise.all([load, wait(DURATION)]);
      const { injected } = world.proxy;
      world.proxy.fault = null;
      return injected;
    },
  })),
  {
    name: "node restarts",
    only: "anvil",
    inject: async (world) => {
      await wait(world.random.integer(0, 200));
      await world.node.restart(() => wait(world.random.integer(0, 500)));
      return 1;
    },
  },
  {
    name: `reorg of 1 to ${(CONFIRMATIONS - 1).toString()} blocks`,
    only: "anvil",
    inject: async (world, load) => {
      await load;
      await wait(world.random.integer(0, 300));
      return reorganise(world, world.random.integer(1, CONFIRMATIONS - 1));
    },
  },
  {
    name: "reorg deeper than the confirmations",
    only: "anvil",
    inject: async (world, load) => {
      await load;
      await wait(world.random.integer(0, 300));
      return reorganise(world, world.random.integer(CONFIRMATIONS + 1, CONFIRMATIONS + 4));
    },
  },
  {
    name: "provider limits",
    inject: async (world, load) => {
      const provider = await LimitedProvider.start(world.node.url, PROVIDER_LIMITS);
      world.proxy.target = provider.url;
      await world.mine(BLOCKS_BEHIND_LIMITS);
      await Promise.all([load, wait(DURATION)]);
      world.proxy.target = world.node.url;
      await provider.stop();
      return provider.refusals;
    },
  },
  {
    name: "hostile contract",
    inject: attackByContract,
  },
  {
    name: "disk full",
    inject: (world) => withoutDisk(world, "full"),
  },
  {
    name: "database read-only",
    inject: (world) => withoutDisk(world, "read-only"),
  },
  {
    name: "clock jumps",
    inject: async (world, load) => {
      const hour = 3_600_000;
      await world.api.control({ clockOffset: world.random.pick([-hour, hour, 24 * hour, -24 * hour]) });
      await load;
      await world.api.control({ clockOffset: 0 });
      return 1;
    },
  },
  {
    name: "base fee doubles",
    inject: async (world, load) => {
      const block = await world.node.provider.getBlock("latest");
      const fee = (block?.baseFeePerGas ?? 1n) * BigInt(world.random.integer(2, 4));
      await world.node.provider.send(`${world.node.kind}_setNextBlockBaseFeePerGas`, [`0x${fee.toString(16)}`]);
      await world.mine();
      await load;
      return 1;
    },
  },
  {
    name: "two processes, one lease",
    inject: async (world, load) => {
      // The first process freezes. A second one, whose clock is ahead, sees the leases expired and takes over the lanes.
      await wait(world.random.integer(0, 200));
      await world.freeze();
      const before = world.fences();
      const second = await world.startSecond();
      await second.control({ clockOffset: BEYOND_LEASES });
      const deadline = performance.now() + TAKEOVER_TIMEOUT;
      while (world.fences() === before && performance.now() < deadline) await wait(20);
      const takenOver = world.fences() - before;
      // The first process continues and believes that it still has its leases.
      world.api.signal("SIGCONT");
      await second.control({ clockOffset: 0 });
      await load;
      await (world.random.chance(0.5) ? second.kill() : stopGracefully(second));
      return takenOver;
    },
  },
];

/** @returns how many writes were refused. */
async function withoutDisk(world: World, disk: "full" | "read-only"): Promise<number> {
  const before = (await world.log()).length;
  await world.api.control({ disk });
  await wait(world.random.integer(200, DURATION));
  await world.api.control({ disk: "ok" });
  return (await world.log()).slice(before).match(WRITE_REFUSED)?.length ?? 0;
}

async function stopGracefully(process: { signal(signal: NodeJS.Signals): void; gone(): Promise<void> }): Promise<void> {
  process.signal("SIGTERM");
  await process.gone();
}

async function reorganise(world: World, depth: number): Promise<number> {
  const head = await world.node.provider.getBlockNumber();
  if (head <= depth) return 0;
  await world.node.provider.send("anvil_reorg", [depth, []]);
  return 1;
}
