import type { Logger } from "pino";

import type { Settings } from "../config/settings.ts";
import type { IpfsNode } from "../content/node/node.ts";
import type { Measurements } from "../metrics/meter.ts";
import { cryptoProblem } from "../shared/crypto.ts";
import type { Metrics } from "../shared/metrics.ts";
import { createSignals, type Signals } from "../shared/signal.ts";
import { type Database, openDatabase } from "../store/db/database.ts";
import type { SchemaError } from "../store/db/migrate.ts";
import type { WriteTurns } from "../store/db/sqlite/write-turns.ts";
import { type ChainIdentity, guardChain } from "./chain-identity.ts";
import { connectNodes } from "./chain-link.ts";
import { connectChain } from "./connect-chain.ts";
import { openContent } from "./content.ts";
import { exportMetrics, openMeter } from "./metrics.ts";
import { joinOthers } from "./presence.ts";
import { createWorkers, healthOf, loadRoles, type NamedWorker, type WorkerHealth } from "./workers.ts";

/** How long a call waits while the node's provider limits the rate of calls, in milliseconds. */
const WORKER_WAIT = 5_000;

/** A running Moneta process, with the roles that its settings name. */
export interface Service {
  chainId: bigint;
  contracts: ChainIdentity["contracts"];
  database: Database;
  /** Where the API listens, or null without the role `api`. */
  port: number | null;
  /** Where `/metrics` listens, or null without METRICS_PORT. */
  metricsPort: number | null;
  /** The service's own IPFS node, or null without one. */
  ipfsNode: Pick<IpfsNode, "peerId" | "addresses"> | null;
  /** How the workers of this process are. */
  health(): Promise<WorkerHealth[]>;
  /** What this thread has measured. */
  measurements(): Promise<Measurements>;
  /** Resolves when a newer version of Moneta has migrated the database: this process must end. */
  outdated: Promise<SchemaError>;
  /** Stops HTTP first, then the workers, then closes what they used. */
  stop(): Promise<void>;
}

/** What the threads of one process share. */
export interface SharedByThreads {
  signals: Signals;
  turns: WriteTurns;
  /** What is known about the nodes of the chain. */
  nodes: SharedArrayBuffer;
  /** The other threads, for the thread that answers HTTP; absent in the others. */
  others?: OtherThreads;
  /**
   * For the others: resolves when the HTTP thread has checked the chain, the database and the keys. Until then a thread only
   * loads its code: the tables must not be made, and a local chain must not be prepared, twice at once.
   */
  checked?: Promise<Checked>;
}

/** What the HTTP thread tells the other thread when it has checked everything. */
export interface Checked {
  /** null: the HTTP thread needs no seed, so it has not decrypted it. */
  seedPhrase: string | null;
}

interface OtherThreads {
  /** Starts them. Called when chain, database and keys are checked. @throws StartupError */
  start: (checked: Checked) => Promise<void>;
  /** How their workers are. */
  health: () => Promise<WorkerHealth[]>;
  /** What they have measured; null when they do not answer. */
  measurements: () => Promise<Measurements | null>;
}

/**
 * Builds and starts everything that the settings ask for. No other file does.
 * @param shared when the roles of this process are split over threads.
 * @throws StartupError, SeedFileError, DatabaseError. Everything that was opened before the error is closed again.
 */
export async function startService(
  settings: Settings,
  logger: Logger,
  shared: SharedByThreads | null = null,
): Promise<Service> {
  const code = await loadRoles(settings.roles);
  const { seedPhrase } = (await shared?.checked) ?? { seedPhrase: null };
  reportCrypto(logger);
  // Closed in reverse order, by `stop` or by a failure half way.
  await using opened = new AsyncDisposableStack();
  const meter = await openMeter(settings, { shared, logger }, opened);
  const { metrics } = meter;
  const database = await openStore(settings, shared, { logger, metrics });
  opened.defer(() => database.close());
  const link = await connectNodes(settings, { database, maxWait: WORKER_WAIT, shared, metrics, logger }, opened);
  const { client, nodes } = link;
  const chain = await connectChain({ ...settings, rpcUrl: link.url() }, { database, client, logger, seedPhrase });
  const { identity, local } = chain;
  const others = shared?.others?.start({ seedPhrase: chain.keys.seedPhrase });
  // Awaited below. Until then a failure is not forgotten.
  others?.catch(() => undefined);
  const guard = await guardChain(link, database, opened);
  const signals = shared?.signals ?? createSignals();
  const now = () => Date.now();
  const addressPolicy = {
    allowedHosts: new Set(settings.allowedPrivateHosts.map((host) => host.toLowerCase())),
    allowLoopback: local,
  };
  const content = await openContent(settings, { database, addressPolicy, logger, now }, opened);
  const { promise: outdated, resolve: onNewerSchema } = Promise.withResolvers<SchemaError>();
  const present = { database, logger, now, onNewerSchema };
  const signing =
    code.relayer === null || chain.signing === null
      ? null
      : await code.relayer.withRelayers(settings, chain.signing, { identity, client, ...present }, opened);
  if (shared === null && signing === null && !settings.roles.includes("api"))
    await joinOthers(settings, present, opened);
  const working = { database, client, content, signals, logger, metrics, now };
  const streams = code.api?.createStreams(settings, working) ?? null;
  const workers = createWorkers(settings, code, { ...chain, ...working, streams, signing });
  runWorkers(workers, opened);
  const health = async () => [...workers.map(healthOf), ...((await shared?.others?.health()) ?? [])];
  const common = { ...present, client, nodes, isLimited: link.isLimited, relay: identity.contracts.relay };
  const port =
    code.api === null || streams === null
      ? null
      : await code.api.serveApi(
          settings,
          { ...working, ...chain, ...common, streams, addressPolicy, guard, health },
          opened,
        );
  const metricsPort = await exportMetrics(settings, { ...common, meter, shared }, opened);
  await others;
  const running = opened.move();
  let stopped: Promise<void> | null = null;
  const stop = () => (stopped ??= running.disposeAsync());
  const measurements = () => meter.read();
  const { ipfsNode } = content;
  return { ...identity, database, port, metricsPort, ipfsNode, health, measurements, outdated, stop };
}

/** Starts the workers. @param opened stops them, and waits until they have stopped. */
function runWorkers(workers: NamedWorker[], opened: AsyncDisposableStack): void {
  const stopping = new AbortController();
  const running = workers.map(({ worker }) => worker.run(stopping.signal));
  opened.defer(async () => {
    stopping.abort();
    await Promise.allSettled(running);
  });
}

function openStore(
  settings: Settings,
  shared: SharedByThreads | null,
  { logger, metrics }: { logger: Logger; metrics: Metrics },
): Promise<Database> {
  return openDatabase(settings.databaseUrl, {
    turns: shared?.turns,
    metrics: settings.metricsPort === null ? undefined : metrics,
    // The threads of a process share its connections.
    connections: shared === null ? settings.databasePool : Math.floor(settings.databasePool / 2),
    onConnectionLost: (err) => {
      logger.warn({ err }, "A connection to the database was lost. Later statements use a new one.");
    },
  });
}

/** Says in the log when slower code is used. */
function reportCrypto(logger: Logger): void {
  if (cryptoProblem === null) return;
  logger.warn(
    { err: cryptoProblem },
    "WebAssembly libraries cannot be loaded: signing and hashing use slower JavaScript code. Run `npm ci` to install them again.",
  );
}
