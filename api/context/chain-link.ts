import type { Logger } from "pino";

import { ChainGuard, type ExpectedChain } from "../chain/chain-guard.ts";
import { ChainClient } from "../chain/client.ts";
import { NodeBudget } from "../chain/node-budget.ts";
import type { NodesState } from "../chain/node-choice.ts";
import { Nodes } from "../chain/nodes.ts";
import { BoundedCalls, Rpc, type RpcOptions } from "../chain/rpc.ts";
import type { Settings } from "../config/settings.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { type Metrics, NO_METRICS } from "../shared/metrics.ts";
import type { Database } from "../store/db/database.ts";
import { readMeta } from "../store/db/meta.ts";
import { StartupError } from "./startup-error.ts";

/** How long the check waits for one of several nodes, in milliseconds. */
const CHECK_TIMEOUT = 2_000;

/** How long a call of a command waits while the node's provider limits the rate of calls, in milliseconds. */
export const COMMAND_WAIT = 60_000;

/** Reports when the service is connected to another chain. */
export interface ChainProblem {
  /** Null while the chain is right or not known. */
  readonly problem: string | null;
}

/** How a thread or a command reaches the chain: over the node of `RPC_URL`, or over those of `RPC_URLS`. */
interface ChainLink {
  client: ChainClient;
  /** Null with one node. */
  nodes: Nodes | null;
  /** The URL of the node that is read now. */
  url: () => string;
  /** How the nodes are. */
  state: () => NodesState;
  /** From now on, an answer counts only while its node serves this chain. @param opened ends the checks. */
  guard: (expected: ExpectedChain, opened: AsyncDisposableStack) => ChainProblem;
}

type LinkSettings = Pick<Settings, "rpcUrl" | "rpcUrls" | "rpcReadOnly" | "rpcAgreement" | "logQueries">;

interface LinkParts {
  /** null: there is none yet, so no node is behind it. */
  database: Database | null;
  /** How long a call waits while the nodes' providers limit the rate of calls, in milliseconds. */
  maxWait: number;
  metrics?: Metrics;
  /** Logs the states of several nodes. Absent for a command, which shows them itself. */
  logger?: Pick<Logger, "warn" | "info">;
}

const UNLOGGED = { warn: () => undefined, info: () => undefined };

/** @param opened ends what watches several nodes. */
export function openChainLink(
  settings: LinkSettings,
  { database, maxWait, metrics = NO_METRICS, logger = UNLOGGED }: LinkParts,
  opened: AsyncDisposableStack,
): ChainLink {
  const { rpcUrl, rpcUrls, rpcReadOnly: readOnly, rpcAgreement: agreement, logQueries } = settings;
  if (rpcUrls.length > 1) {
    const floor = async () => (database === null ? 0 : Number((await readMeta(database.read, "checkpoint")) ?? 0));
    const nodes = new Nodes(rpcUrls, { readOnly, agreement, maxWait, metrics, floor, logger });
    opened.defer(() => {
      nodes.stop();
    });
    return linkOfNodes(nodes, new ChainClient(nodes, logQueries), maxWait);
  }
  const budget = new NodeBudget();
  const rpc = new Rpc(rpcUrl, { maxWait, metrics, budget });
  return {
    client: new ChainClient(rpc, logQueries),
    nodes: null,
    url: () => rpcUrl,
    state: () => ({ states: [], disagreement: null, isLimited: budget.isLimited }),
    guard: (expected, stack) => {
      const guard = createGuard({ url: rpcUrl, name: null }, expected, stack, { budget, maxWait });
      rpc.guardBy(guard);
      return guard;
    },
  };
}

function linkOfNodes(nodes: Nodes, client: ChainClient, maxWait: number): ChainLink {
  let guarded = false;
  return {
    client,
    nodes,
    url: () => nodes.url,
    state: () => ({ states: nodes.states(), disagreement: nodes.disagreement, isLimited: false }),
    guard: (expected, stack) => {
      if (!guarded)
        nodes.guardBy((node) => {
          const options = { budget: node.budget, maxWait, timeout: CHECK_TIMEOUT };
          const guard = createGuard(node, expected, stack, options);
          // Nobody has looked at this node's chain yet.
          guard.failed();
          return guard;
        });
      guarded = true;
      return nodes;
    },
  };
}

function createGuard(
  { url, name }: { url: string; name: string | null },
  expected: ExpectedChain,
  opened: AsyncDisposableStack,
  options: RpcOptions,
): ChainGuard {
  // Every call waits for the check.
  const client = new ChainClient(new BoundedCalls(new Rpc(url, options), { urgent: true }));
  const read = async () => {
    const met = await client.chainId();
    const [block] = await client.blocks([0]);
    return block == null ? null : { chainId: met, genesis: block.hash };
  };
  const guard = new ChainGuard(url, expected, read, name);
  guard.start();
  opened.defer(() => {
    guard.stop();
  });
  return guard;
}

/**
 * Opens the link, and puts nodes of a wrong chain aside before anything is read. A database that belongs to no chain yet is
 * bound by what the nodes say, so they must say the same.
 * @throws StartupError
 */
export async function connectNodes(
  settings: LinkSettings,
  parts: LinkParts & { database: Database },
  opened: AsyncDisposableStack,
): Promise<ChainLink> {
  const link = openChainLink(settings, parts, opened);
  if (link.nodes === null) return link;
  const expected = await chainOfDatabase(parts.database);
  if (expected !== null) link.guard(expected, opened);
  const met = await link.nodes.chains();
  const problem = link.nodes.problem ?? (expected === null ? differenceOf(met) : null);
  if (problem !== null) throw new StartupError(problem);
  return link;
}

/**
 * For a command that sends transactions of an owner, one after the other: they all go to the first node that works.
 * @throws OperatorError when the nodes serve different chains
 */
export async function firstNode(settings: LinkSettings): Promise<string> {
  await using opened = new AsyncDisposableStack();
  const { nodes, url } = openChainLink(settings, { database: null, maxWait: 0 }, opened);
  if (nodes === null) return url();
  await nodes.examine();
  const problem = differenceOf(await nodes.chains());
  if (problem !== null) throw new OperatorError(problem);
  return url();
}

/** The chain that the database belongs to; null while it belongs to none. */
async function chainOfDatabase({ read }: Pick<Database, "read">): Promise<ExpectedChain | null> {
  const [chainId, genesis] = [await readMeta(read, "chain_id"), await readMeta(read, "genesis")];
  return chainId === null || genesis === null ? null : { chainId: BigInt(chainId), genesis };
}

/** What to say when the nodes serve different chains, and nothing says which is meant; null when they do not. */
function differenceOf(met: readonly { name: string; chain: ExpectedChain | null }[]): string | null {
  const kinds = new Set(
    met.flatMap(({ chain }) => (chain === null ? [] : `${chain.chainId.toString()} ${chain.genesis}`)),
  );
  if (kinds.size < 2) return null;
  const list = met.map(({ name, chain }) =>
    chain === null ? `${name}: no answer` : `${name}: chain ${chain.chainId.toString()}, block 0 ${chain.genesis}`,
  );
  return `The nodes of RPC_URLS serve different chains, and nothing says which is meant. ${list.join("; ")}. Correct RPC_URLS. Nothing was changed.`;
}

/**
 * From now on, the answers of the nodes count only while they serve the chain that the database belongs to.
 * @param opened ends the checks.
 */
export async function guardChain(
  link: ChainLink,
  database: Database,
  opened: AsyncDisposableStack,
): Promise<ChainProblem> {
  const expected = await chainOfDatabase(database);
  if (expected === null) throw new Error("the database is not bound to a chain");
  return link.guard(expected, opened);
}
