import type { AddressInfo } from "node:net";

import type { Logger } from "pino";

import type { ChainClient } from "../../chain/client.ts";
import { createForeignContracts } from "../../chain/foreign.ts";
import { createReceiverReads } from "../../chain/receivers.ts";
import type { NodesState } from "../../chain/nodes.ts";
import { watchBacklog } from "../../checks/backlog-watch.ts";
import type { Examination } from "../../checks/examine.ts";
import { createReadiness } from "../../checks/readiness.ts";
import { type Source, source } from "../../checks/source.ts";
import type { ServiceState } from "../../checks/state.ts";
import { localCommandLine } from "../../config/command-line.ts";
import { FOREIGN_CALL_GAS } from "../../config/limits.ts";
import type { Settings } from "../../config/settings.ts";
import { createWalletDeriver } from "../../keys/wallet-deriver.ts";
import type { AddressPolicy } from "../../outbound/addresses.ts";
import type { Metrics } from "../../shared/metrics.ts";
import type { Signals } from "../../shared/signal.ts";
import type { Database } from "../../store/db/database.ts";
import { readMeta } from "../../store/db/meta.ts";
import { createExpressApp } from "../../v1/app.ts";
import type { AppDeps } from "../../v1/deps.ts";
import { createHttpServer, listen, stopHttpServer } from "../../v1/server.ts";
import { EventStreams } from "../../v1/streams/event-streams.ts";
import { type Chain, hostedBaseOf } from "../chain-identity.ts";
import type { CheckedKeys } from "../check-keys.ts";
import type { Content } from "../content.ts";
import { needed } from "../keys.ts";
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
    { name: "backlog", worker: watchBacklog({ database, logger, now }), critical: false },
    { name: "streams", worker: streams, critical: false },
  ];
}

interface ApiParts extends Chain, CheckedKeys, PresenceParts {
  client: ChainClient;
  relay: string;
  content: Content;
  signals: Signals;
  streams: EventStreams;
  state: ServiceState;
  metrics: Metrics;
  addressPolicy: AddressPolicy;
  nodes: () => Promise<NodesState>;
  health: () => Promise<WorkerHealth[]>;
}

/** Starts the HTTP API. @returns its port. */
export async function serveApi(settings: Settings, parts: ApiParts, opened: AsyncDisposableStack): Promise<number> {
  const { database, nodes, keys, health, logger } = parts;
  const client = parts.client.as("first");
  const processes = await joinProcesses("api", settings, parts, opened);
  return startHttp(
    {
      ...parts,
      settings,
      blocks: parts.content.blocks,
      deriver: createWalletDeriver(needed(keys.walletsPublicKey)),
      sealer: needed(keys.sealer),
      foreign: createForeignContracts(client, FOREIGN_CALL_GAS),
      receivers: createReceiverReads(client, { relay: parts.relay, gas: settings.limits.itemGas }),
      readiness: createReadiness({ database, client, nodes, health, logger }),
      doctor: createDoctor(settings, parts),
      apiProcesses: () => processes.count,
      chainId: Number(parts.identity.chainId),
      localCli: parts.local ? localCommandLine(settings) : null,
      chainProblem: () => client.nodes.problem,
      arrivals: { count: 0 },
    },
    settings,
    opened,
  );
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
    arrivals: deps.arrivals,
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
    else logger.warn({ address }, "connections are refused: an address has as many as it may");
  };
}

/**
 * A result is reused for `fresh` milliseconds, or for ten times as long as the checks took if that is more. So the checks never
 * take more than a tenth of the process's time, however often a browser asks. A call waits `timeout` milliseconds for a result.
 */
const DOCTOR = { fresh: 15_000, restFactor: 10, timeout: 20_000 };

/** The checks of `npm run cli -- doctor`, with the keys of this process. */
function createDoctor(settings: Settings, parts: ApiParts): Source<Examination & { checkedAt: number }> {
  const { database, client, identity, keys, logger, now } = parts;
  const { blocks } = parts.content;
  const examineAll = async () => {
    // Loaded when the operator first looks.
    const { CHECKS, examine } = await import("../../checks/examine.ts");
    const { diskCheck, filesCheck, storeCheck } = await import("../../operate/media-checks.ts");
    const checkedAt = now();
    const context = {
      ...{ settings, database, client, thorough: false, now: checkedAt },
      chain: {
        chainId: identity.chainId.toString(),
        genesis: (await readMeta(database.read, "genesis")) ?? "",
        contracts: identity.contracts,
      },
      keys: {
        ...keys,
        seedProblem: keys.keyring === null ? "This process does not have the seed." : null,
        sealerProblem: keys.sealer === null ? "This process does not have SECRET_KEYS." : null,
      },
      hostedBase: hostedBaseOf(settings),
    };
    const checks = [...CHECKS, diskCheck(settings.dataDir), storeCheck(blocks), filesCheck(blocks)];
    return { ...(await examine(context, checks)), checkedAt };
  };
  return source("doctor", examineAll, { ...DOCTOR, logger });
}
