import { setTimeout as wait } from "node:timers/promises";

import { Relay__factory } from "../../types/ethers-contracts/factories/Relay__factory.ts";
import type { FaultyNode, Lie, NodeFault } from "../scene/faulty-node.ts";
import type { ProxiedCall } from "../scene/rpc-proxy.ts";
import type { Fault } from "./faults.ts";
import type { World } from "./world.ts";

/** Milliseconds that a fault lasts at least: longer than the service needs to notice a node that hangs. */
const DURATION = 6_000;
/** Milliseconds from one block to the next. */
const BLOCK = 250;
/** How many blocks a node is behind, if the chain has so many. */
const BEHIND = 50;
/** Seconds for which a node refuses all calls. */
const RETRY_AFTER = 10;

/** A node that gets so many calls is used again: a resting one only gets a few probes. */
const USED = 20;
/** A node that differs from most others rests for thirty seconds. In milliseconds, as the wait between two polls. */
const LONGEST_REST = 60_000;
const LOOK = 100;

/** What the first of the nodes does. The others work. */
const OF_ONE: Record<string, (head: number) => NodeFault> = {
  dies: () => ({ kind: "dead" }),
  hangs: () => ({ kind: "hangs" }),
  "is 50 blocks behind": (head) => ({ kind: "behind", at: Math.max(0, head - BEHIND) }),
  "serves an old branch": (head) => ({ kind: "old-branch", from: head }),
  "forgets all logs": (head) => ({ kind: "forgets-logs", above: head, of: "everything" }),
  "forgets the logs of transfers": (head) => ({ kind: "forgets-logs", above: head, of: "transfers" }),
  "invents logs": (head) => ({ kind: "invents-logs", above: head }),
  "invents costs": () => ({ kind: "invents-costs", gasUsed: "0x5f5e100" }),
  "names a far too high fee": () => ({ kind: "invents-fees", wei: "0x174876e800" }),
  "answers for another chain": () => ({ kind: "other-chain" }),
  "refuses every batch": () => ({ kind: "no-batches" }),
  "limits the rate": () => ({ kind: "rate-limit", retryAfter: RETRY_AFTER }),
  "loses its pool": () => ({ kind: "loses-pool" }),
  "refuses transactions": () => ({ kind: "refuses-transactions" }),
};

const relay = Relay__factory.createInterface();
function word(value: number): string {
  return `0x${value.toString(16).padStart(64, "0")}`;
}

/** A lie of the first node: one value of an answer. @param place what the lie needs to know. */
type Tell = (call: ProxiedCall, result: unknown, place: Place) => Lie | undefined;

interface Place {
  wallets: ReadonlySet<string>;
  /** The code of a wallet that has delegated; null: none has. */
  delegated: string | null;
}

function ofMethod(method: string, result: string): Tell {
  return (call) => (call.method === method ? { result } : undefined);
}

function ofRelay(name: "paused" | "isOperator", value: number): Tell {
  const { selector } = relay.getFunction(name);
  return ({ method, params: [call] }) =>
    method === "eth_call" && String((call as { data?: string }).data).startsWith(selector)
      ? { result: word(value) }
      : undefined;
}

function ofNewestBlock(change: object): Tell {
  return ({ method, params }, block) =>
    method === "eth_getBlockByNumber" && params[0] === "latest"
      ? { result: { ...(block as object), ...change } }
      : undefined;
}

function ofWallets(method: string, result: (place: Place) => string | null): Tell {
  return ({ method: asked, params: [account] }, _result, place) => {
    const told = result(place);
    return asked === method && told !== null && place.wallets.has(String(account).toLowerCase())
      ? { result: told }
      : undefined;
  };
}

const LIES: Record<string, Tell> = {
  "names a block gas limit of 30,000": ofNewestBlock({ gasLimit: "0x7530" }),
  "estimates far too much gas": ofMethod("eth_estimateGas", "0x2000000"),
  "says that simulated calls revert": ({ method }) =>
    method === "eth_estimateGas"
      ? { error: { code: 3, message: "execution reverted", data: "0x63c38351" } }
      : undefined,
  "names wrong nonces of wallets": ofWallets("eth_getTransactionCount", () => "0x7"),
  "says that all wallets have delegated": ofWallets("eth_getCode", ({ delegated }) => delegated),
  "says that the lanes have no funds": ofMethod("eth_getBalance", "0x0"),
  "says that the relay is paused": ofRelay("paused", 1),
  "says that the lanes are not operators": ofRelay("isOperator", 0),
  "names a base fee above every limit": ofNewestBlock({ baseFeePerGas: "0x2d79883d2000" }),
  "names no base fee": ofNewestBlock({ baseFeePerGas: "0x0" }),
};

async function placeOf({ wallets, node }: World): Promise<Place> {
  const codes = await Promise.all(wallets.map((wallet) => node.provider.getCode(wallet)));
  return {
    wallets: new Set(wallets.map((wallet) => wallet.toLowerCase())),
    delegated: codes.find((code) => code !== "0x") ?? null,
  };
}

const FAULTS_OF_ONE: Record<string, (world: World) => Promise<NodeFault>> = {
  ...Object.fromEntries(
    Object.entries(OF_ONE).map(([name, fault]) => [
      name,
      async (world: World) => fault(await world.node.provider.getBlockNumber()),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(LIES).map(([name, tell]) => [
      name,
      async (world: World): Promise<NodeFault> => {
        const place = await placeOf(world);
        return { kind: "lies", tell: (call, result) => tell(call, result, place) };
      },
    ]),
  ),
};

/** For a service that has several nodes. */
export const NODE_FAULTS: Fault[] = [
  ...Object.entries(FAULTS_OF_ONE).map(([name, fault]) => ({
    name: `first node ${name}`,
    inject: async (world: World, load: Promise<unknown>) => {
      const [first] = world.nodes;
      if (first === undefined) return 0;
      const before = first.count;
      first.fault = await fault(world);
      await meanwhile(world, load);
      first.fault = null;
      const affected = first.count - before;
      // It rests for a while. The next fault of a node must meet one that is used.
      await isUsed(first);
      return affected;
    },
  })),
  {
    name: "all nodes but one die",
    inject: async (world, load) => {
      const failing = world.random.shuffle([...world.nodes]).slice(1);
      for (const node of failing) node.fault = world.random.chance(0.5) ? { kind: "dead" } : { kind: "hangs" };
      await meanwhile(world, load);
      repair(failing);
      return failing.length;
    },
  },
  {
    name: "all nodes die, and come back in another order",
    inject: async (world, load) => {
      for (const node of world.nodes) node.fault = { kind: "dead" };
      // Calls that need a node wait for one: the load may end only when one is back.
      await meanwhile(world, Promise.resolve(), DURATION / 3);
      for (const node of world.random.shuffle([...world.nodes])) {
        repair([node]);
        await meanwhile(world, Promise.resolve(), DURATION / 3);
      }
      await meanwhile(world, load, 0);
      return world.nodes.length;
    },
  },
];

/** Blocks come all the time, so that what is in a block becomes final while the fault lasts. */
async function meanwhile(world: World, load: Promise<unknown>, duration = DURATION): Promise<void> {
  const end = Promise.all([load, wait(duration)]).then(() => true);
  while (!(await Promise.race([end, wait(BLOCK, false)]))) await world.mine();
}

async function isUsed(node: FaultyNode): Promise<void> {
  const [before, started] = [node.count, performance.now()];
  while (node.count < before + USED && performance.now() - started < LONGEST_REST) await wait(LOOK);
}

function repair(nodes: readonly FaultyNode[]): void {
  for (const node of nodes) node.fault = null;
}
