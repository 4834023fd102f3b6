import type { Logger } from "pino";

import type { ContractAddresses } from "../chain/contracts.ts";
import { createServiceState } from "../checks/state.ts";
import type { Settings } from "../config/settings.ts";
import type { IpfsNode } from "../content/node/node.ts";
import { speedUpEthers } from "../shared/crypto.ts";
import { runWorkers } from "../shared/work-loop.ts";
import { type Database, openDatabase } from "../store/db/database.ts";
import type { SchemaError } from "../store/db/migrate.ts";
import { Presence } from "../store/db/presence.ts";
import { configureLocalChain, establishIdentity, hostedBaseOf, warnOfWrongBase } from "./chain-identity.ts";
import { connectChain } from "./chain-link.ts";
import { loadCheckedKeys } from "./check-keys.ts";
import { createContext } from "./context.ts";
import { exportMetrics, openMeter } from "./metrics.ts";
import { createWorkers, loadRoles, type NamedWorker } from "./workers.ts";

/** How long a call waits while the node's provider limits the rate of calls, in milliseconds. */
const WORKER_WAIT = 5_000;

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
  /** The service's own IPFS node, for tests; null when this process has none. */
  ipfsNode: Pick<IpfsNode, "peerId" | "addresses"> | null;
  /** The background workers, for tests. */
  workers: readonly NamedWorker[];
  /** Resolves when a newer version of Moneta has migrated the database: this process must end. */
  outdated: Promise<SchemaError>;
  /** Stops HTTP first, then the workers, then closes what they used. */
  stop(): Promise<void>;
}

/**
 * Builds and starts everything that the settings ask for. No other file does.
 * @throws StartupError, SeedFileError, DatabaseError. Everything that was opened before the error is closed again.
 */
export async function startService(settings: Settings, logger: Logger): Promise<Service> {
  // Loads while the first steps wait for the database, the chain and the seed. A failure is thrown by the `await` below.
  const loading = loadRoles(settings.roles);
  loading.catch(() => undefined);
  speedUpEthers();
  // Closed in reverse order, by `stop` or by a failure half way.
  await using opened = new AsyncDisposableStack();

  const meter = await openMeter(settings, logger, opened);
  const { metrics } = meter;
  const database = await openDatabase(settings.databaseUrl, {
    metrics: settings.metricsPort === null ? undefined : metrics,
    connections: settings.databasePool,
    onConnectionLost: (err) => {
      logger.warn({ err }, "A connection to the database was lost. Later statements use a new one.");
    },
  });
  opened.defer(() => database.close());
  const client = await connectChain(settings, { database, maxWait: WORKER_WAIT, metrics, logger }, opened);

  // The chain and the keys must belong to the database.
  const chain = await establishIdentity(settings, { database, client });
  const { keys, lanes } = await loadCheckedKeys(settings, chain, { database, client, logger });
  if (chain.local) await configureLocalChain(settings, chain, keys, client.nodes.url);
  else await warnOfWrongBase(client, chain.contracts, { hostedBase: hostedBaseOf(settings), logger });

  const { promise: outdated, resolve: onNewerSchema } = Promise.withResolvers<SchemaError>();
  const checked = { settings, logger, metrics, database, client, chain, keys, lanes, onNewerSchema };
  const context = await createContext(checked, opened);
  // A migration must know of every process. Those that accept or send say so where they begin to; the others are `other`.
  if (!settings.roles.includes("api") && !settings.roles.includes("relayer"))
    await Presence.join("other", context, opened);
  const code = await loading;
  const workers = await createWorkers(context, code, opened);
  runWorkers(workers, opened);

  const { relay } = chain.contracts;
  const state = createServiceState(settings, { database, client, relay, logger, now: context.now });
  const port = code.api === null ? null : await code.api.serveApi(context, { state, workers }, opened);
  const metricsPort = await exportMetrics(settings, { meter, state, logger }, opened);

  const running = opened.move();
  let stopped: Promise<void> | null = null;
  return {
    chainId: chain.chainId,
    contracts: chain.contracts,
    local: chain.local,
    database,
    port,
    metricsPort,
    ipfsNode: context.content.ipfsNode,
    workers,
    outdated,
    stop: () => (stopped ??= running.disposeAsync()),
  };
}
