import type { AddressInfo } from "node:net";

import type { Logger } from "pino";

import { WrongChain } from "../../chain/chain-guard.ts";
import type { ChainClient } from "../../chain/client.ts";
import { describeError, RateLimited } from "../../chain/errors.ts";
import { createForeignContracts } from "../../chain/foreign.ts";
import { createReceiverReads } from "../../chain/receivers.ts";
import type { NodeState } from "../../chain/node-choice.ts";
import type { Nodes } from "../../chain/nodes.ts";
import { localCommandLine } from "../../config/command-line.ts";
import type { Settings } from "../../config/settings.ts";
import { type NodeWord, type Readiness, READINESS_WORDS, type ReadinessWord } from "../../domain/conditions.ts";
import { createWalletDeriver } from "../../keys/wallet-deriver.ts";
import { BacklogWatch } from "../../metrics/backlog-watch.ts";
import type { AddressPolicy } from "../../outbound/addresses.ts";
import type { Metrics } from "../../shared/metrics.ts";
import type { Signals } from "../../shared/signal.ts";
import type { Database } from "../../store/db/database.ts";
import { readMeta } from "../../store/db/meta.ts";
import { isAnyParked } from "../../store/db/parked-rows.ts";
import { createExpressApp } from "../../v1/app.ts";
import type { AppDeps } from "../../v1/deps.ts";
import { createHttpServer, listen, stopHttpServer } from "../../v1/server.ts";
import { EventStreams } from "../../v1/streams/event-streams.ts";
import type { ChainProblem } from "../chain-link.ts";
import type { Chain } from "../chain-identity.ts";
import type { CheckedKeys } from "../check-keys.ts";
import type { Content } from "../content.ts";
import { needed } from "../keys.ts";
import { createOperatorReads } from "../operator-reads.ts";
import { joinProcesses, type PresenceParts } from "../presence.ts";
import type { NamedWorker, WorkerDeps, WorkerHealth } from "../workers.ts";

/** The event streams of the API. They are a worker, too. */
export function createStreams(
  settings: Settings,
  { database, signals, logger, metrics }: { database: Database; signals: Signals; logger: Logger; metrics: Metrics },
): EventStreams {
  return new EventStreams({ ...settings, read: database.read, stored: signals.deliveries, logger, metrics });
}

/** The workers of the role `api`. */
export function apiWorkers({ database, logger, now }: WorkerDeps, streams: EventStreams): NamedWorker[] {
  return [
    { name: "backlog", worker: new BacklogWatch({ database, logger, now }), critical: false },
    { name: "streams", worker: streams, critical: false },
  ];
}

interface ApiParts extends Chain, CheckedKeys, PresenceParts {
  client: ChainClient;
  relay: string;
  content: Content;
  signals: Signals;
  streams: EventStreams;
  metrics: Metrics;
  addressPolicy: AddressPolicy;
  guard: ChainProblem;
  /** Null with one node. */
  nodes: Nodes | null;
  /** Whether the provider of the only node limits the rate of calls now. */
  isLimited: () => boolean;
  health: () => Promise<WorkerHealth[]>;
}

/** Starts the HTTP API. @returns its port. */
export async function serveApi(settings: Settings, parts: ApiParts, opened: AsyncDisposableStack): Promise<number> {
  const { database, guard, nodes, isLimited, keys, health, logger } = parts;
  const client = parts.client.as("api");
  const processes = await joinProcesses("api", settings, parts, opened);
  return startHttp(
    {
      ...parts,
      settings,
      blocks: parts.content.blocks,
      deriver: createWalletDeriver(needed(keys.walletsPublicKey)),
      sealer: needed(keys.sealer),
      foreign: createForeignContracts(client, settings.limits.foreignCallGas),
      receivers: createReceiverReads(client, { relay: parts.relay, gas: settings.limits.itemGas }),
      readiness: createReadiness({ database, client, nodes, isLimited, health, logger }),
      operator: createOperatorReads(settings, {
        ...parts,
        client: client.as("background"),
        blocks: parts.content.blocks,
      }),
      apiProcesses: () => processes.count,
      chainId: Number(parts.identity.chainId),
      localCli: parts.local ? localCommandLine(settings) : null,
      chainProblem: () => guard.problem,
    },
    settings,
    opened,
  );
}

interface Watched {
  database: Database;
  client: Pick<ChainClient, "headNumber">;
  /** Absent or null with one node. */
  nodes?: Pick<Nodes, "states"> | null;
  /** Absent: never. */
  isLimited?: () => boolean;
  health: () => Promise<WorkerHealth[]>;
  logger: Logger;
}

/** Milliseconds for which a result is given again: anybody may ask, and each look costs a query and a call of the node. */
const FRESH = 1_000;

/** With one of these words a process cannot serve calls. With any other failure it still accepts requests and answers reads. */
const CAN_DO_NOTHING: Record<"database" | "chain", readonly ReadinessWord[]> = {
  database: ["unavailable"],
  chain: ["wrong_chain"],
};

interface Result {
  word: ReadinessWord;
  /** What is wrong; null: nothing. */
  detail: string | null;
}

/**
 * The checks of `readyz`: the database can be read, the node answers, and each critical worker of this process works. Strangers
 * may read the words. The details are for the operator, because they may name hosts and users: they are also logged, once
 * when a check begins to fail and once when it is over. Workers log their own errors.
 */
export function createReadiness(parts: Watched, clock = () => performance.now()): () => Promise<Readiness> {
  const { database, client, nodes = null, isLimited = () => false, health, logger } = parts;
  const words = new Map<string, ReadinessWord>();
  const check = async (name: "database" | "chain" | "rows", ask: () => Promise<ReadinessWord>): Promise<Result> => {
    try {
      const found = await ask();
      if ((words.get(name) ?? "ok") !== "ok") logger.info({ check: name }, "a check of /readyz succeeds again");
      words.set(name, "ok");
      return { word: found, detail: found === "ok" ? null : READINESS_WORDS[found] };
    } catch (error) {
      const word = wordOf(error);
      if (words.get(name) !== word) logger.error({ check: name, word, err: error }, "a check of /readyz fails");
      words.set(name, word);
      return { word, detail: describeError(error) };
    }
  };
  const look = async (): Promise<Readiness> => {
    const results = new Map<string, Result>();
    const states = nodes?.states() ?? [];
    const [stored, chain, rows, workers] = await Promise.all([
      check("database", () => readMeta(database.read, "checkpoint").then(() => "ok")),
      nodes === null
        ? check("chain", () => client.headNumber().then(() => (isLimited() ? "rate_limited" : "ok")))
        : chainOf(states),
      check("rows", () => isAnyParked(database.read).then((parked) => (parked ? "parked" : "ok"))),
      health(),
    ]);
    results.set("database", stored).set("chain", chain).set("rows", rows);
    if (nodes !== null) results.set("nodes", nodesOf(states));
    for (const { name, critical, lastError } of workers)
      if (critical) results.set(name, { word: lastError === null ? "ok" : "failing", detail: lastError });
    return {
      ready: !CAN_DO_NOTHING.database.includes(stored.word) && !CAN_DO_NOTHING.chain.includes(chain.word),
      checks: Object.fromEntries([...results].map(([name, { word }]) => [name, word])),
      details: Object.fromEntries([...results].map(([name, { detail }]) => [name, detail ?? "ok"])),
    };
  };
  let last: { endedAt: number; result: Promise<Readiness> } | null = null;
  return () => {
    if (last === null || clock() - last.endedAt >= FRESH) {
      const current = { endedAt: Infinity, result: look() };
      const ended = () => (current.endedAt = clock());
      current.result.then(ended, ended);
      last = current;
    }
    return last.result;
  };
}

/** With several nodes, from what is known about them: no node is asked. */
function chainOf(states: readonly NodeState[]): Result {
  const problems = states.flatMap(({ problem }) => problem ?? []);
  if (problems.length < states.length) return { word: "ok", detail: null };
  const word = WORDS_OF_CHAIN.find(([of]) => states.some((state) => state.word === of))?.[1] ?? "wrong_chain";
  return { word, detail: problems.join("; ") };
}

/** While every node fails: the word of the one that will work first. A wrong chain only if all serve one. */
const WORDS_OF_CHAIN: [NodeWord, ReadinessWord][] = [
  ["rate_limited", "rate_limited"],
  ["down", "unavailable"],
  ["behind", "unavailable"],
  ["disagrees", "unavailable"],
];

function nodesOf(states: readonly NodeState[]): Result {
  const problems = states.flatMap(({ problem }) => problem ?? []);
  return problems.length === 0 ? { word: "ok", detail: null } : { word: "node_down", detail: problems.join("; ") };
}

function wordOf(error: unknown): ReadinessWord {
  if (error instanceof WrongChain) return "wrong_chain";
  return error instanceof RateLimited ? "rate_limited" : "unavailable";
}

/** Milliseconds that requests get to finish when the service stops. */
const STOP_DEADLINE = 10_000;
/** Milliseconds between two warnings that connections are refused. */
const WARN_EVERY = 60_000;

/**
 * Starts the HTTP API.
 * @param opened takes over the server, to be closed.
 * @returns the port that it listens at.
 */
async function startHttp(
  deps: AppDeps,
  settings: Pick<Settings, "port" | "host" | "limits">,
  opened: AsyncDisposableStack,
): Promise<number> {
  const app = createExpressApp(deps);
  const isTrusted = app.get("trust proxy fn") as (address: string, hop: number) => boolean;
  const connections = {
    limits: settings.limits,
    isProxy: (address: string) => isTrusted(address, 0),
    refused: warnOfRefused(deps.logger),
  };
  const server = await listen(createHttpServer(app, {}, connections), settings);
  opened.defer(async () => {
    deps.streams.end();
    await stopHttpServer(server, STOP_DEADLINE);
  });
  return (server.address() as AddressInfo).port;
}

/** Says in the log that connections are refused: once in a while, because a flood must not fill the log. */
function warnOfRefused(logger: Logger): (address: string | null) => void {
  let quietUntil = 0;
  return (address) => {
    const now = performance.now();
    if (now < quietUntil) return;
    quietUntil = now + WARN_EVERY;
    if (address === null) logger.warn("connections are refused: the API has as many as MAX_CONNECTIONS");
    else logger.warn({ address }, "connections are refused: an address has as many as MAX_ADDRESS_CONNECTIONS");
  };
}
