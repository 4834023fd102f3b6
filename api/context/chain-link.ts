import type { Logger } from "pino";

import type { ExpectedChain } from "../chain/chain-guard.ts";
import { ChainClient } from "../chain/client.ts";
import { Nodes } from "../chain/nodes.ts";
import type { Settings } from "../config/settings.ts";
import { OperatorError } from "../operate/operator-error.ts";
import type { Metrics } from "../shared/metrics.ts";
import type { Database } from "../store/db/database.ts";
import { readMeta } from "../store/db/meta.ts";
import { StartupError } from "./startup-error.ts";

/** How long a call of a command waits while the node's provider limits the rate of calls, in milliseconds. */
export const COMMAND_WAIT = 60_000;

type LinkSettings = Pick<Settings, "rpcUrl" | "rpcUrls" | "rpcReadOnly" | "rpcAgreement" | "logQueries">;

interface LinkParts {
  database: Database;
  /** How long a call waits while the nodes' providers limit the rate of calls, in milliseconds. */
  maxWait: number;
  metrics?: Metrics;
  /** Logs the states of several nodes. Absent for a command, which shows them itself. */
  logger?: Pick<Logger, "warn" | "info">;
}

/** How a process or a command reaches the chain: over the node of `RPC_URL`, or those of `RPC_URLS`. @param opened ends the checks. */
export function openChain(
  settings: LinkSettings,
  { database, ...parts }: LinkParts,
  opened: AsyncDisposableStack,
): ChainClient {
  const { rpcUrl, rpcUrls, rpcReadOnly: readOnly, rpcAgreement: agreement, logQueries } = settings;
  const floor = async () => Number((await readMeta(database.read, "checkpoint")) ?? 0);
  const options = { readOnly, agreement, logQueries, floor, ...parts };
  const nodes = new Nodes(rpcUrls.length > 1 ? rpcUrls : [rpcUrl], options);
  opened.defer(() => {
    nodes.stop();
  });
  return new ChainClient(nodes);
}

/**
 * As `openChain`. Puts nodes of a wrong chain aside before anything is read. A database that belongs to no chain yet is bound by
 * what the nodes say, so they must say the same.
 * @throws StartupError
 */
export async function connectChain(
  settings: LinkSettings,
  parts: LinkParts,
  opened: AsyncDisposableStack,
): Promise<ChainClient> {
  const client = openChain(settings, parts, opened);
  const { nodes } = client;
  if (nodes.count === 1) return client;
  const expected = await chainOfDatabase(parts.database);
  if (expected !== null) nodes.guardBy(expected);
  const met = await nodes.chains();
  const problem = nodes.problem ?? (expected === null ? differenceOf(met) : null);
  if (problem !== null) throw new StartupError(problem);
  return client;
}

/** From now on, the answers of the nodes count only while they serve the chain that the database belongs to. */
export async function guardChain({ nodes }: ChainClient, database: Database): Promise<void> {
  const expected = await chainOfDatabase(database);
  if (expected === null) throw new Error("the database is not bound to a chain");
  nodes.guardBy(expected);
}

/**
 * For a command that sends transactions of an owner, one after the other: they all go to the first node that works.
 * @throws OperatorError when the nodes serve different chains
 */
export async function firstNode({ rpcUrl, rpcUrls }: Pick<Settings, "rpcUrl" | "rpcUrls">): Promise<string> {
  if (rpcUrls.length < 2) return rpcUrl;
  const nodes = new Nodes(rpcUrls);
  try {
    await nodes.examine();
    const problem = differenceOf(await nodes.chains());
    if (problem !== null) throw new OperatorError(problem);
    return nodes.url;
  } finally {
    nodes.stop();
  }
}

/** The chain that the database belongs to; null while it belongs to none. */
async function chainOfDatabase({ read }: Database): Promise<ExpectedChain | null> {
  const [chainId, genesis] = [await readMeta(read, "chain_id"), await readMeta(read, "genesis")];
  return chainId === null || genesis === null ? null : { chainId: BigInt(chainId), genesis };
}

/** What to say when the nodes serve different chains, and nothing says which is meant; null when they do not. */
function differenceOf(met: Awaited<ReturnType<Nodes["chains"]>>): string | null {
  const kinds = new Set(met.flatMap(({ chain }) => (chain === null ? [] : [identityOf(chain)])));
  if (kinds.size < 2) return null;
  const list = met.map(({ name, chain }) => `${name}: ${chain === null ? "no answer" : identityOf(chain)}`);
  return `The nodes of RPC_URLS serve different chains, and nothing says which is meant. ${list.join("; ")}. Correct RPC_URLS. Nothing was changed.`;
}

function identityOf({ chainId, genesis }: ExpectedChain): string {
  return `chain ${chainId.toString()}, block 0 ${genesis}`;
}
