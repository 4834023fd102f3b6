import { setTimeout as wait } from "node:timers/promises";

import { Wallet } from "ethers";

import { LimitedProvider, type ProviderLimits } from "../scene/limited-provider.ts";
import type { Fault } from "./faults.ts";
import type { RpcFault } from "../scene/fault-proxy.ts";
import { CONFIRMATIONS, type World } from "./world.ts";

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
const PROVIDER_LIMITS: ProviderLimits = { blocks: 10, addresses: 1, results: 100, batch: 12, callsPerSecond: 20 };
/** Blocks that are mined while the limits apply. */
const BLOCKS_BEHIND_LIMITS = 40;

/** Milliseconds within which the refused mint must be final. */
const SOON = 90_000;
/** Milliseconds that a fault of the node lasts at least. */
const DURATION = 700;

/** What the node, the chain and contracts of others do. */
export const CHAIN_FAULTS: Fault[] = [
  ...Object.entries(RPC_FAULTS).map(([name, fault]) => ({
    name,
    inject: async (world: World, load: Promise<unknown>) => {
      world.proxy.fault = fault;
      // The service asks for nonces at start-up and rarely afterwards.
      if (fault.kind === "old-nonce") await world.service.restartSenders();
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
      return reorganize(world, world.random.integer(1, CONFIRMATIONS - 1));
    },
  },
  {
    name: "reorg deeper than the confirmations",
    only: "anvil",
    inject: async (world, load) => {
      await load;
      await wait(world.random.integer(0, 300));
      return reorganize(world, world.random.integer(CONFIRMATIONS + 1, CONFIRMATIONS + 4));
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
  { name: "rpc refuses a transaction for good", inject: refuseForGood },
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
];

async function reorganize(world: World, depth: number): Promise<number> {
  const head = await world.node.provider.getBlockNumber();
  if (head <= depth) return 0;
  await world.node.reorg(depth);
  return 1;
}

/**
 * The node, or the first of several, refuses each transaction that mints to one address. With one node that mint fails, and no
 * other; with several, another node takes it. @returns how often it refused.
 */
async function refuseForGood(world: World, load: Promise<unknown>): Promise<number> {
  const { attacker, proxy } = world;
  const to = Wallet.createRandom().address;
  const naming = to.slice(2).toLowerCase();
  proxy.fault = { kind: "refuse-broadcast", probability: 1, methods: ["eth_sendRawTransaction"], naming };
  try {
    const id = await attacker.client.accept("/v1/nfts", { collection_address: attacker.collection, to_address: to });
    await load;
    const request = await world.final(attacker, String(id), SOON);
    const isTaken = world.nodes.length > 1;
    if (request["error_code"] !== (isTaken ? null : "transaction_refused"))
      throw new Error(`a mint that the node refuses ended otherwise: ${JSON.stringify(request)}`);
    return proxy.injected;
  } finally {
    proxy.fault = null;
  }
}
