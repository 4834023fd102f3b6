import type { Logger } from "pino";

import type { ContractAddresses } from "../chain/contracts.ts";
import { createServiceState } from "../checks/state.ts";
import type { Settings } from "../config/settings.ts";
import type { IpfsNode } from "../content/node/node.ts";
import type { Meter } from "../metrics/meter.ts";
import { speedUpEthers } from "../shared/crypto.ts";
import { createSignals, type Signals } from "../shared/signal.ts";
import { runWorkers } from "../shared/work-loop.ts";
import { type Database, openDatabase } from "../store/db/database.ts";
import type { SchemaError } from "../store/db/migrate.ts";
import { Presence } from "../store/db/presence.ts";
import type { WriteTurns } from "../store/db/sqlite/write-turns.ts";
import { configureLocalChain, establishIdentity, hostedBaseOf, warnOfWrongBase } from "./chain-identity.ts";
import { connectChain } from "./chain-link.ts";
import { loadCheckedKeys } from "./check-keys.ts";
import { type Connections, type Context, createContext, type CheckedIdentity } from "./context.ts";
import { loadKeys } from "./keys.ts";
import { exportMetrics, openMeter } from "./metrics.ts";
import { createWorkers, healthOf, loadRoles, type RoleCode } from "./workers.ts";
import type { Checked, Report, WorkersThread } from "./workers-thread.ts";

/** How long a call waits while the node's provider limits the rate of calls, in milliseconds. */
const WORKER_WAIT = 5_000;

/** How the workers are while their thread does not answer. */
const SILENT = { name: "pipeline", critical: true, lastError: "its thread does not answer" };

/** A running Moneta process, with the roles that its settings name. */
export interface Service {
  chainId: bigint;
  contracts: ContractAddresses;
  /** Whether the chain is a local one. */
  local: boolean;
  /** For `npm start`, tests and benchmarks. */
  database: Database;
  /** Where the API listens, or null without the role `api`. */
  port: number | null;
  /** Where `/metrics` listens, or null without METRICS_PORT. */
  metricsPort: number | null;
  /** The service's own IPFS node, for tests; null when this thread has none. */
  ipfsNode: Pick<IpfsNode, "peerId" | "addresses"> | null;
  /** How this thread is. */
  report(): Promise<Report>;
  /** Resolves when a newer version of Moneta has migrated the database: this process must end. */
  outdated: Promise<SchemaError>;
  /** Stops HTTP first, then the workers, then closes what they used. */
  stop(): Promise<void>;
}

/**
 * The thread that starts: the only one of its process; the one with the role `api`, which begins the `other` one; or that one, for
 * which the first has `checked` the chain and the keys.
 */
export interface Thread {
  name: "all" | "http" | "workers";
  signals: Signals;
  turns?: WriteTurns;
  other?: WorkersThread;
  checked?: Checked;
}

/**
 * Builds and starts everything that the settings ask for. No other file does.
 * @throws StartupError, SeedFileError, DatabaseError. Everything that was opened before the error is closed again.
 */
export async function startService(
  settings: Settings,
  logger: Logger,
  thread: Thread = { name: "all", signals: createSignals() },
): Promise<Service> {
  const { name, signals, other, checked } = thread;
  const roles = settings.roles.filter((role) => name === "all" || (role === "api") === (name === "http"));
  // Loads while the first steps wait for the database, the chain and the seed. A failure is thrown by the `await` below.
  const loading = loadRoles(roles);
  loading.catch(() => undefined);
  // Closed in reverse order, by `stop` or by a failure half way.
  await using opened = new AsyncDisposableStack();
  opened.defer(() => other?.stop());

  const connections = await connect(settings, logger, thread, opened);
  // One thread of the process checks the chain and the keys, and configures a local chain. The other one begins after that.
  const identity = await (checked === undefined ? check(settings, logger, connections) : takeOver(settings, checked));
  const beginning = other?.begin(settings, identity);
  // A failure of the other thread is thrown by the `await` below.
  beginning?.catch(() => undefined);

  const code = await loading;
  const { promise: outdated, resolve: onNewerSchema } = Promise.withResolvers<SchemaError>();
  const parts = { settings, roles, logger, signals, connections, identity, onNewerSchema };
  const context = await createContext(parts, opened);
  // A migration must know of every process. Those that accept or send say so where they begin to; the others are `other`.
  if (!settings.roles.includes("api") && !settings.roles.includes("relayer"))
    await Presence.join("other", context, opened);
  const workers = await createWorkers(context, code, opened);
  runWorkers(workers, opened);

  const { client, meter } = connections;
  const report = async () => ({
    health: workers.map(healthOf),
    nodes: client.nodes.state(),
    measurements: await meter.read(),
  });
  // One thread answers for the process.
  const ports =
    checked === undefined
      ? await listenAll(context, code, { other, report, meter }, opened)
      : { port: null, metricsPort: null };
  await beginning;

  const running = opened.move();
  let stopped: Promise<void> | null = null;
  return {
    chainId: context.chain.chainId,
    contracts: context.chain.contracts,
    local: context.chain.local,
    ...ports,
    database: context.database,
    ipfsNode: context.content.ipfsNode,
    report,
    outdated,
    stop: () => (stopped ??= running.disposeAsync()),
  };
}

/** Opens the database, and brings its tables up to date; connects to the nodes of the chain. */
async function connect(
  settings: Settings,
  logger: Logger,
  thread: Thread,
  opened: AsyncDisposableStack,
): Promise<Connections> {
  speedUpEthers();
  const meter = await openMeter(settings, thread.name, logger, opened);
  const { metrics } = meter;
  const database = await openDatabase(settings.databaseUrl, {
    turns: thread.turns,
    metrics: settings.metricsPort === null ? undefined : metrics,
    // The threads of a process share its connections.
    connections: thread.name === "all" ? settings.databasePool : Math.floor(settings.databasePool / 2),
    onConnectionLost: (err) => {
      logger.warn({ err }, "A connection to the database was lost. Later statements use a new one.");
    },
  });
  opened.defer(() => database.close());
  const client = await connectChain(settings, { database, maxWait: WORKER_WAIT, metrics, logger }, opened);
  return { meter, database, client };
}

/**
 * Finds the chain and the keys, which must belong to the database, and configures a local chain.
 * @throws StartupError, SeedFileError
 */
async function check(settings: Settings, logger: Logger, { database, client }: Connections): Promise<CheckedIdentity> {
  const chain = await establishIdentity(settings, { database, client });
  const { keys, lanes } = await loadCheckedKeys(settings, chain, { database, client, logger });
  if (chain.local) await configureLocalChain(settings, chain, keys, client.nodes.url);
  else await warnOfWrongBase(client, chain.contracts, { hostedBase: hostedBaseOf(settings), logger });
  return { chain, keys, lanes };
}

/** What the other thread has checked. */
async function takeOver(settings: Settings, { chain, seedPhrase, lanes }: Checked): Promise<CheckedIdentity> {
  return { chain, keys: await loadKeys(settings, chain.local, seedPhrase), lanes };
}

/** The API and `/metrics` listen. They show both threads of the process. */
async function listenAll(
  context: Context,
  code: RoleCode,
  { other, report, meter }: { other: WorkersThread | undefined; report: () => Promise<Report>; meter: Meter },
  opened: AsyncDisposableStack,
): Promise<{ port: number | null; metricsPort: number | null }> {
  const ofWorkers = () => other?.report() ?? report();
  const health = async () => (await ofWorkers())?.health ?? [SILENT];
  const nodes = async () => {
    const [own, theirs] = [context.client.nodes.state(), (await ofWorkers())?.nodes];
    return { ...(theirs ?? own), isLimited: own.isLimited || theirs?.isLimited === true };
  };
  const { settings, database, client, chain, logger, now } = context;
  const { relay } = chain.contracts;
  const state = createServiceState(settings, { database, client, nodes, relay, logger, now });
  const port = code.api === null ? null : await code.api.serveApi(context, { state, health, nodes }, opened);
  const pipeline = other && { measurements: async () => (await other.report())?.measurements ?? null };
  return { port, metricsPort: await exportMetrics(settings, { meter, state, pipeline, logger }, opened) };
}
