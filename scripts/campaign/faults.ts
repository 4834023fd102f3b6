import { setTimeout as wait } from "node:timers/promises";

import { CRASH_POINTS } from "../../api/shared/crash-point.ts";
import type { NodeKind } from "../nodes/node-process.ts";
import type { RpcFault } from "./proxy.ts";
import { CONFIRMATIONS, type World } from "./world.ts";

/** Something that goes wrong while requests are under way. */
export interface Fault {
  name: string;
  /** On which nodes it can be made; absent: on both. */
  only?: NodeKind;
  /**
   * Goes wrong, lasts, and is over when the promise is. `load` resolves when the round's calls are accepted.
   * @returns how often it really struck: a fault that never does proves nothing.
   */
  strike(world: World, load: Promise<unknown>): Promise<number>;
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
  "rpc takes a broadcast, answers an error": {
    kind: "answer-broadcast-with-error",
    probability: 0.7,
    methods: BROADCAST,
  },
  "rpc hides receipts": { kind: "hide-receipts", probability: 1, methods: ["eth_getTransactionReceipt"] },
  "rpc lags behind": { kind: "lag", probability: 0.5, methods: ["eth_blockNumber"], amount: 2 },
  "rpc answers an old nonce": { kind: "old-nonce", probability: 0.8, methods: ["eth_getTransactionCount"] },
};

/** Further than any lease lasts, in milliseconds. */
const BEYOND_LEASES = 20_000;
/** Longest wait for a rival to take a lane over, in milliseconds. */
const TAKES_OVER_WITHIN = 3_000;
/** What SQLite answers where a write is refused. */
const REFUSED = /SQLITE_FULL|SQLITE_READONLY|disk is full|readonly database/g;

/** How long a fault of the node lasts, in milliseconds. */
const LASTS = 700;

export const FAULTS: Fault[] = [
  ...CRASH_POINTS.map((point) => ({
    name: `kill -9 at ${point}`,
    strike: async (world: World, load: Promise<unknown>) => {
      // The process that is to die takes over in the middle of the load.
      await world.restart({ CRASH_POINT: point });
      const died = await Promise.race([world.api.gone().then(() => true), load.then(() => wait(4_000, false))]);
      await world.restart();
      return died ? 1 : 0;
    },
  })),
  {
    name: "kill -9 at a random time",
    strike: async (world) => {
      await wait(world.random.whole(0, 400));
      await world.restart();
      return 1;
    },
  },
  ...Object.entries(RPC_FAULTS).map(([name, fault]) => ({
    name,
    strike: async (world: World, load: Promise<unknown>) => {
      world.proxy.fault = fault;
      // Nonces are asked for when the service starts, and seldom after.
      if (fault.kind === "old-nonce") await world.restart();
      await Promise.all([load, wait(LASTS)]);
      const { struck } = world.proxy;
      world.proxy.fault = null;
      return struck;
    },
  })),
  {
    name: "node restarts",
    only: "anvil",
    strike: async (world) => {
      await wait(world.random.whole(0, 200));
      await world.node.restart(() => wait(world.random.whole(0, 500)));
      return 1;
    },
  },
  {
    name: `reorg of 1 to ${(CONFIRMATIONS - 1).toString()} blocks`,
    only: "anvil",
    strike: async (world, load) => {
      await load;
      await wait(world.random.whole(0, 300));
      return reorganise(world, world.random.whole(1, CONFIRMATIONS - 1));
    },
  },
  {
    name: "reorg deeper than the confirmations",
    only: "anvil",
    strike: async (world, load) => {
      await load;
      await wait(world.random.whole(0, 300));
      return reorganise(world, world.random.whole(CONFIRMATIONS + 1, CONFIRMATIONS + 4));
    },
  },
  {
    name: "disk full",
    strike: (world) => withoutDisk(world, "full"),
  },
  {
    name: "database read-only",
    strike: (world) => withoutDisk(world, "read-only"),
  },
  {
    name: "clock jumps",
    strike: async (world, load) => {
      const hour = 3_600_000;
      await world.api.order({ clockOffset: world.random.pick([-hour, hour, 24 * hour, -24 * hour]) });
      await load;
      await world.api.order({ clockOffset: 0 });
      return 1;
    },
  },
  {
    name: "base fee doubles",
    strike: async (world, load) => {
      const block = await world.node.provider.getBlock("latest");
      const fee = (block?.baseFeePerGas ?? 1n) * BigInt(world.random.whole(2, 4));
      await world.node.provider.send(`${world.node.kind}_setNextBlockBaseFeePerGas`, [`0x${fee.toString(16)}`]);
      await world.mine();
      await load;
      return 1;
    },
  },
  {
    name: "two processes, one lease",
    strike: async (world, load) => {
      // The holder freezes in the middle of its work. By the rival's clock all leases run out, and it takes the lanes over.
      await wait(world.random.whole(0, 200));
      await world.freeze();
      const before = world.fences();
      const rival = await world.startRival();
      await rival.order({ clockOffset: BEYOND_LEASES });
      const deadline = performance.now() + TAKES_OVER_WITHIN;
      while (world.fences() === before && performance.now() < deadline) await wait(20);
      const taken = world.fences() - before;
      // The holder wakes up and believes that it still holds.
      world.api.signal("SIGCONT");
      await rival.order({ clockOffset: 0 });
      await load;
      await (world.random.chance(0.5) ? rival.kill() : stopKindly(rival));
      return taken;
    },
  },
];

/** @returns how many writes were refused. */
async function withoutDisk(world: World, disk: "full" | "read-only"): Promise<number> {
  const before = (await world.log()).length;
  await world.api.order({ disk });
  await wait(world.random.whole(200, LASTS));
  await world.api.order({ disk: "ok" });
  return (await world.log()).slice(before).match(REFUSED)?.length ?? 0;
}

async function stopKindly(process: { signal(signal: NodeJS.Signals): void; gone(): Promise<void> }): Promise<void> {
  process.signal("SIGTERM");
  await process.gone();
}

async function reorganise(world: World, depth: number): Promise<number> {
  const head = await world.node.provider.getBlockNumber();
  if (head <= depth) return 0;
  await world.node.provider.send("anvil_reorg", [depth, []]);
  return 1;
}
