import type { Logger } from "pino";

import { LOCAL_CHAIN_ID } from "../chain/local-contracts.ts";
import type { NodesState } from "../chain/nodes.ts";
import { createServiceState } from "../checks/state.ts";
import type { Settings } from "../config/settings.ts";
import type { IpfsNode } from "../content/node/node.ts";
import type { Measurements } from "../metrics/meter.ts";
import { speedUpEthers } from "../shared/crypto.ts";
import type { Metrics } from "../shared/metrics.ts";
import { createSignals, type Signals } from "../shared/signal.ts";
import { type Database, openDatabase } from "../store/db/database.ts";
import type { SchemaError } from "../store/db/migrate.ts";
import type { WriteTurns } from "../store/db/sqlite/write-turns.ts";
import { type Chain, type ChainIdentity, establishIdentity } from "./chain-identity.ts";
import { connectChain, guardChain } from "./chain-link.ts";
import { type CheckedKeys, loadCheckedKeys } from "./check-keys.ts";
import { prepareChain } from "./prepare-chain.ts";
import { openContent } from "./content.ts";
import { exportMetrics, openMeter } from "./metrics.ts";
import type { PipelineThread } from "./pipeline-thread.ts";
import { joinProcesses, type PresenceParts } from "./presence.ts";
import { createWorkers, healthOf, loadRoles, type NamedWorker, type RoleCode, type WorkerHealth } from "./workers.ts";

/** How long a call waits while the node's provider limits the rate of calls, in milliseconds. */
const WORKER_WAIT = 5_000;

/** A running Moneta process, with the roles that its settings name. */
export interface Service {
  chainId: bigint;
  contracts: ChainIdentity["contracts"];
  /** For `npm start`, tests and benchmarks. */
  database: Database;
  /** Where the API listens, or null without the role `api`. */
  port: number | null;
  /** Where `/metrics` listens, or null without METRICS_PORT. */
  metricsPort: number | null;
  /** The service's own IPFS node, for tests; null when this thread has none. */
  ipfsNode: Pick<IpfsNode, "peerId" | "addresses"> | null;
  /** How the workers of this process are. */
  health(): Promise<WorkerHealth[]>;
  /** How the nodes of the chain are. With two threads, for the one that works on requests and compares blocks. */
  nodes(): Promise<NodesState>;
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
  /** The thread of the pipeline, for the thread that answers HTTP; absent in the former. */
  pipeline?: Pick<PipelineThread, "start" | "health" | "measurements" | "nodes">;
  /**
   * For the thread of the pipeline: resolves when the HTTP thread has checked the chain, the database and the keys. Until then it only
   * loads its code: the tables must not be made, and a local chain must not be prepared, twice at once.
   */
  checked?: Promise<Checked>;
}

/** What the HTTP thread tells the thread of the pipeline when it has checked everything. */
export interface Checked {
  chain: Chain;
  /** null: the HTTP thread needs no seed, so it has not decrypted it, and has prepared no lanes on a local chain. */
  seedPhrase: string | null;
}

/**
 * Builds and starts everything that the settings ask for, in five steps. No other file does.
 * @param shared when the roles of this process are split over threads.
 * @throws StartupError, SeedFileError, DatabaseError. Everything that was opened before the error is closed again.
 */
export async function startService(
  settings: Settings,
  logger: Logger,
  shared: SharedByThreads | null = null,
): Promise<Service> {
  // Loads while the first steps wait for the database, the chain and the seed. A failure is thrown by the `await` below.
  const loading = loadRoles(settings.roles);
  loading.catch(() => undefined);
  const checked = (await shared?.checked) ?? null;
  speedUpEthers();
  // Closed in reverse order, by `stop` or by a failure half way.
  await using opened = new AsyncDisposableStack();
  const setup: Setup = { settings, logger, shared, now: () => Date.now(), opened };

  const open = await openConnections(setup);
  const chain = checked?.chain ?? (await findChain(setup, open));
  const keys = await checkKeys(setup, { ...open, ...chain }, checked);
  // The steps that only one thread may do are done. A failure of the other thread is thrown by the `await` below.
  const pipeline = shared?.pipeline?.start({ chain, seedPhrase: keys.keys.seedPhrase });
  pipeline?.catch(() => undefined);
  const code = await loading;
  const work = await startWork(setup, code, { ...open, ...chain, ...keys });
  const ports = await serve(setup, code, { ...open, ...chain, ...keys, ...work });
  await pipeline;

  const running = opened.move();
  let stopped: Promise<void> | null = null;
  return {
    ...chain.identity,
    ...ports,
    database: open.database,
    ipfsNode: work.content.ipfsNode,
    health: work.health,
    nodes: work.nodes,
    measurements: () => open.meter.read(),
    outdated: work.outdated,
    stop: () => (stopped ??= running.disposeAsync()),
  };
}

/** What every step gets. */
interface Setup {
  settings: Settings;
  logger: Logger;
  shared: SharedByThreads | null;
  now: () => number;
  /** Closes what a step has opened. */
  opened: AsyncDisposableStack;
}

type Open = Awaited<ReturnType<typeof openConnections>>;

/** Step 1: the measurements, the database, and the connection to the nodes of the chain. */
async function openConnections({ settings, logger, shared, opened }: Setup) {
  const meter = await openMeter(settings, { shared, logger }, opened);
  const { metrics } = meter;
  const database = await openStore(settings, shared, { logger, metrics });
  opened.defer(() => database.close());
  const client = await connectChain(settings, { database, maxWait: WORKER_WAIT, metrics, logger }, opened);
  return { meter, metrics, database, client };
}

/** Step 2: which chain it is, and the contracts there. A new database is bound to the chain; a known one accepts no other. */
async function findChain(
  { settings }: Setup,
  { database, client }: Pick<Open, "database" | "client">,
): Promise<Chain> {
  const identity = await establishIdentity(database, client, { ...settings, rpcUrl: client.nodes.url });
  return { identity, local: identity.chainId === LOCAL_CHAIN_ID };
}

/** Step 3: the keys, which must belong to this database and this chain. On a local chain, the lanes of the keys get funds. */
async function checkKeys(
  { settings, logger }: Setup,
  found: Open & Chain,
  checked: Checked | null,
): Promise<CheckedKeys> {
  const seedPhrase = checked?.seedPhrase ?? null;
  const keys = await loadCheckedKeys(settings, found, { ...found, logger }, seedPhrase);
  // The thread that has decrypted the seed has prepared the chain, too.
  if (seedPhrase === null)
    await prepareChain({ ...settings, rpcUrl: found.client.nodes.url }, found, keys.keys, { ...found, logger });
  return keys;
}

type Work = Awaited<ReturnType<typeof startWork>>;

/** Step 4: the workers of this process's roles, and what they work with. */
async function startWork(
  { settings, logger, shared, now, opened }: Setup,
  code: RoleCode,
  found: Open & Chain & CheckedKeys,
) {
  const { database, client, metrics, identity, local } = found;
  await guardChain(client, database);
  const signals = shared?.signals ?? createSignals();
  const addressPolicy = {
    allowedHosts: new Set(settings.allowedPrivateHosts.map((host) => host.toLowerCase())),
    allowLoopback: local,
  };
  const content = await openContent(settings, { database, addressPolicy, logger, now }, opened);
  const { promise: outdated, resolve: onNewerSchema } = Promise.withResolvers<SchemaError>();
  const present: PresenceParts = { database, logger, now, onNewerSchema };
  const signing =
    code.relayer === null || found.signing === null
      ? null
      : await code.relayer.openSigning(settings, found.signing, { identity, client, ...present }, opened);
  if (shared === null && signing === null && !settings.roles.includes("api"))
    await joinProcesses("other", settings, present, opened);
  const working = { database, client, content, signals, logger, metrics, now };
  const streams = code.api?.createStreams(settings, working) ?? null;
  const workers = createWorkers(settings, code, { ...found, ...working, streams, signing });
  runWorkers(workers, opened);
  const health = async () => [...workers.map(healthOf), ...((await shared?.pipeline?.health()) ?? [])];
  const nodes = async () => {
    const [own, workers] = [client.nodes.state(), await shared?.pipeline?.nodes()];
    return workers == null ? own : { ...workers, isLimited: own.isLimited || workers.isLimited };
  };
  return { content, addressPolicy, signals, streams, health, nodes, outdated, present };
}

/** Step 5: the API and `/metrics` listen. */
async function serve(
  { settings, shared, opened }: Setup,
  code: RoleCode,
  found: Open & Chain & CheckedKeys & Work,
): Promise<Pick<Service, "port" | "metricsPort">> {
  const { client, streams, present, meter, nodes } = found;
  const common = { ...present, client, nodes };
  const relay = found.identity.contracts.relay;
  const state = createServiceState(settings, { ...found, ...common, relay });
  const port =
    code.api === null || streams === null
      ? null
      : await code.api.serveApi(settings, { ...found, ...common, relay, streams, state }, opened);
  return { port, metricsPort: await exportMetrics(settings, { ...common, state, meter, shared }, opened) };
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
