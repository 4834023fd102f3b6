import type { Logger } from "pino";

import { ChainClient } from "../chain/client.ts";
import { createForeignContracts } from "../chain/foreign-contracts.ts";
import { LOCAL_CHAIN_ID, prepareLocally, withLocalOwner } from "../chain/local-contracts.ts";
import { Rpc } from "../chain/rpc.ts";
import type { Settings } from "../config/settings.ts";
import type { IpfsNode } from "../ipfs-node/node.ts";
import type { Keyring } from "../keys/keyring.ts";
import { createWalletDeriver } from "../keys/wallet-deriver.ts";
import { cryptoProblem } from "../shared/crypto.ts";
import { GasMeter } from "../relayer/gas-meter.ts";
import { createSignals, type Signals } from "../shared/signal.ts";
import { type Database, openDatabase } from "../store/db/database.ts";
import type { WriteTurns } from "../store/db/write-turns.ts";
import { allLanes } from "../store/sending/lanes.ts";
import { joinApiProcesses, joinRelayers } from "./api-processes.ts";
import { type ChainIdentity, establishIdentity } from "./chain-identity.ts";
import { checkLanes, checkSeed } from "./chain-state-check.ts";
import { openContent } from "./content.ts";
import { startHttp } from "./http.ts";
import { type Keys, loadKeys, needed } from "./keys.ts";
import { guardChain } from "./guard-chain.ts";
import { createReadiness } from "./readiness.ts";
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
  /** The service's own IPFS node, or null without one. */
  ipfsNode: Pick<IpfsNode, "peerId" | "addresses"> | null;
  /** How the workers of this process are. */
  health(): Promise<WorkerHealth[]>;
  /** Stops HTTP first, then the workers, then closes what they used. */
  stop(): Promise<void>;
}

/** What the threads of one process share. */
export interface SharedByThreads {
  signals: Signals;
  turns: WriteTurns;
  /** How the workers of the other threads are. */
  others?: () => Promise<WorkerHealth[]>;
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
  const database = await openStore(settings, logger, shared);
  opened.defer(() => database.close());
  // A caller of the API does not wait for a provider's rate limit: it gets 503 at once.
  const connections = [new Rpc(settings.rpcUrl, { maxWait: WORKER_WAIT }), new Rpc(settings.rpcUrl)] as const;
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
  const signing =
    chain.signing === null
      ? null
      : await withRelayers(settings, chain.signing, { identity, database, client, logger, now }, opened);
  const workers = createWorkers(settings, { ...chain, signing, database, client, content, signals, logger, now });
  runWorkers(workers, opened);
  const health = async () => [...workers.map(healthOf), ...((await shared?.others?.()) ?? [])];
  const port = settings.roles.includes("api")
    ? await startHttp(
        {
          settings,
          database,
          blocks: content.blocks,
          deriver: createWalletDeriver(needed(chain.keys.walletsPublicKey)),
          sealer: needed(chain.keys.sealer),
          foreign: createForeignContracts(impatient, settings.limits.foreignCallGas),
          signals,
          addressPolicy,
          logger,
          readiness: createReadiness({ database, client: impatient, health }),
          apiProcesses: await joinApiProcesses(settings, { database, logger, now }, opened),
          chainId: Number(identity.chainId),
          chainProblem: () => guard.problem,
          relay: identity.contracts.relay,
        },
        settings,
        opened,
      )
    : null;
  const running = opened.move();
  let stopped: Promise<void> | null = null;
  const stop = () => (stopped ??= running.disposeAsync());
  return { ...identity, database, port, ipfsNode: content.ipfsNode, health, stop };
}

function reportCrypto(logger: Logger): void {
  if (cryptoProblem === null) return;
  logger.warn(
    { err: cryptoProblem },
    "WebAssembly libraries cannot be loaded: signing and hashing use slower JavaScript code. Run `npm ci` to install them again.",
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
  deps: { identity: ChainIdentity; database: Database; client: ChainClient; logger: Logger; now: () => number },
  opened: AsyncDisposableStack,
): Promise<Signing> {
  const gas = new GasMeter({ ...deps.identity, ...deps, keyring: signing.keyring });
  await gas.open();
  return { ...signing, gas, relayers: await joinRelayers(settings, deps, opened) };
}

/** The lanes of the settings, and those of earlier settings: they must finish what they began. */
async function lanesToDrive(database: Database, wanted: number): Promise<number[]> {
  const dropped = (await allLanes(database.read)).map((row) => row.lane).filter((lane) => lane >= wanted);
  return [...Array(wanted).keys(), ...dropped];
}

function laneAddresses(keyring: Keyring, count: number): string[] {
  return Array.from({ length: count }, (_, index) => keyring.lane(index).address);
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

function openStore(settings: Settings, logger: Logger, shared: SharedByThreads | null): Promise<Database> {
  return openDatabase(settings.databaseUrl, {
    turns: shared?.turns,
    // The threads of a process share its connections.
    connections: shared === null ? settings.databasePool : Math.floor(settings.databasePool / 2),
    onConnectionLost: (err) => {
      logger.warn({ err }, "A connection to the database was lost. Later statements use a new one.");
    },
  });
}
