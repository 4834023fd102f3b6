import type { Logger } from "pino";

import { ChainClient } from "../chain/client.ts";
import type { ChainGuard } from "../chain/chain-guard.ts";
import { createForeignContracts } from "../chain/foreign-contracts.ts";
import { LOCAL_CHAIN_ID, prepareLocally, withLocalOwner } from "../chain/local-contracts.ts";
import { Rpc } from "../chain/rpc.ts";
import type { Settings } from "../config/settings.ts";
import type { IpfsNode } from "../ipfs-node/node.ts";
import type { Keyring } from "../keys/keyring.ts";
import { createWalletDeriver } from "../keys/wallet-deriver.ts";
import type { Measurements } from "../metrics/meter.ts";
import { GasMeter } from "../relayer/gas-meter.ts";
import type { AddressPolicy } from "../outbound/addresses.ts";
import type { Metrics } from "../shared/metrics.ts";
import { createSignals, type Signals } from "../shared/signal.ts";
import { type Database, openDatabase } from "../store/db/database.ts";
import type { SchemaError } from "../store/db/migrate.ts";
import type { WriteTurns } from "../store/db/write-turns.ts";
import { allLanes } from "../store/sending/lanes.ts";
import { EventStreams } from "../v1/streams/event-streams.ts";
import { joinApiProcesses, joinOthers, joinRelayers, type PresenceParts } from "./api-processes.ts";
import { type ChainIdentity, establishIdentity } from "./chain-identity.ts";
import { checkLanes, checkSeed } from "./chain-state-check.ts";
import { type Content, openContent } from "./content.ts";
import { startHttp } from "./http.ts";
import { type Keys, loadKeys, needed } from "./keys.ts";
import { guardChain } from "./guard-chain.ts";
import { exportMetrics, openMeter } from "./metrics.ts";
import { createOperatorReads } from "./operator-reads.ts";
import { createReadiness } from "./readiness.ts";
import { reportCrypto } from "./report-crypto.ts";
import { createWorkers, healthOf, type NamedWorker, type Signing, type WorkerHealth } from "./workers.ts";
import { hostedBaseOf } from "./workplace.ts";

/** How long a worker's call waits while the node's provider limits the rate of calls, in milliseconds. */
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
  /** The other threads, for the thread that answers HTTP; absent in the others. */
  others?: OtherThreads;
}

export interface OtherThreads {
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
  reportCrypto(logger);
  // Closed in reverse order, by `stop` or by a failure half way.
  await using opened = new AsyncDisposableStack();
  const meter = await openMeter(settings, { shared, logger }, opened);
  const { metrics } = meter;
  const database = await openStore(settings, shared, { logger, metrics });
  opened.defer(() => database.close());
  // A caller of the API does not wait for a provider's rate limit: it gets 503 at once.
  const connections = [
    new Rpc(settings.rpcUrl, { maxWait: WORKER_WAIT, metrics }),
    new Rpc(settings.rpcUrl, { metrics }),
  ] as const;
  const client = new ChainClient(connections[0], settings.logQueries);
  const impatient = new ChainClient(connections[1], settings.logQueries);
  const chain = await connectChain(settings, database, client);
  const { identity, local } = chain;
  const guard = await guardChain(settings.rpcUrl, database, connections, opened);
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
    chain.signing === null
      ? null
      : await withRelayers(settings, chain.signing, { identity, client, ...present }, opened);
  if (shared === null && signing === null && !settings.roles.includes("api"))
    await joinOthers(settings, present, opened);
  const streams = new EventStreams({ ...settings, read: database.read, stored: signals.deliveries, logger, metrics });
  const working = { database, client, content, signals, logger, metrics, now, streams };
  const workers = createWorkers(settings, { ...chain, ...working, signing });
  runWorkers(workers, opened);
  const health = async () => [...workers.map(healthOf), ...((await shared?.others?.health()) ?? [])];
  const common = { ...present, client: impatient, relay: identity.contracts.relay };
  const port = settings.roles.includes("api")
    ? await serveApi(settings, { ...working, ...chain, ...common, addressPolicy, guard, health }, opened)
    : null;
  const metricsPort = await exportMetrics(settings, { ...common, meter, shared }, opened);
  const running = opened.move();
  let stopped: Promise<void> | null = null;
  const stop = () => (stopped ??= running.disposeAsync());
  const measurements = () => meter.read();
  const { ipfsNode } = content;
  return { ...identity, database, port, metricsPort, ipfsNode, health, measurements, outdated, stop };
}

interface ApiParts extends Chain, PresenceParts {
  /** Does not wait for a provider's rate limit. */
  client: ChainClient;
  relay: string;
  content: Content;
  signals: Signals;
  streams: EventStreams;
  metrics: Metrics;
  addressPolicy: AddressPolicy;
  guard: ChainGuard;
  health: () => Promise<WorkerHealth[]>;
}

/** Starts the HTTP API. @returns its port. */
async function serveApi(settings: Settings, parts: ApiParts, opened: AsyncDisposableStack): Promise<number> {
  const { database, client, guard, keys, health } = parts;
  return startHttp(
    {
      ...parts,
      settings,
      blocks: parts.content.blocks,
      deriver: createWalletDeriver(needed(keys.walletsPublicKey)),
      sealer: needed(keys.sealer),
      foreign: createForeignContracts(client, settings.limits.foreignCallGas),
      readiness: createReadiness({ database, client, health }),
      operator: createOperatorReads(settings, { ...parts, blocks: parts.content.blocks }),
      apiProcesses: await joinApiProcesses(settings, parts, opened),
      chainId: Number(parts.identity.chainId),
      chainProblem: () => guard.problem,
    },
    settings,
    opened,
  );
}

interface Chain {
  identity: ChainIdentity;
  keys: Keys;
  local: boolean;
  /** What the relayer signs with; null without that role. */
  signing: { keyring: Keyring; lanes: number[] } | null;
}

/** Checks that chain, database and keys belong together. On a local chain it also funds the lanes. @throws StartupError */
async function connectChain(settings: Settings, database: Database, client: ChainClient): Promise<Chain> {
  const hostedBase = hostedBaseOf(settings);
  const identity = await establishIdentity(database, client, { ...settings, hostedBase });
  const local = identity.chainId === LOCAL_CHAIN_ID;
  const keys = await loadKeys(settings, local);
  await checkSeed(database, keys);
  const signing = settings.roles.includes("relayer")
    ? { keyring: needed(keys.keyring), lanes: await lanesToDrive(database, settings.lanes) }
    : null;
  if (signing !== null) await checkLanes(database, client, signing.keyring, signing.lanes);
  if (local) {
    const addresses = keys.keyring === null ? [] : laneAddresses(keys.keyring, settings.lanes);
    await withLocalOwner(settings.rpcUrl, (owner) =>
      prepareLocally(owner, identity.contracts, { lanes: addresses, hostedBase }),
    );
  }
  return { identity, keys, local, signing };
}

/** Adds the other relayers, and the meter that knows what calls cost. It measures once before the lanes start. */
async function withRelayers(
  settings: Settings,
  signing: NonNullable<Chain["signing"]>,
  deps: PresenceParts & { identity: ChainIdentity; client: ChainClient },
  opened: AsyncDisposableStack,
): Promise<Signing> {
  const gas = new GasMeter({ ...deps.identity, ...deps, keyring: signing.keyring });
  await gas.open();
  return { ...signing, gas, relayers: await joinRelayers(settings, deps, opened) };
}

/** The lanes of the settings, and those of earlier settings: they must finish what they began. */
async function lanesToDrive(database: Database, wanted: readonly number[]): Promise<number[]> {
  const dropped = (await allLanes(database.read)).map((row) => row.lane).filter((lane) => !wanted.includes(lane));
  return [...wanted, ...dropped];
}

function laneAddresses(keyring: Keyring, lanes: readonly number[]): string[] {
  return lanes.map((lane) => keyring.lane(lane).address);
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
