import type { Logger } from "pino";

import type { ChainClient } from "../chain/client.ts";
import type { Settings } from "../config/settings.ts";
import { ContractReader } from "../indexer/contract-reader.ts";
import { Indexer } from "../indexer/indexer.ts";
import type { Keyring } from "../keys/keyring.ts";
import { type Keys, needed } from "./keys.ts";
import { Announcer } from "../media/announcer.ts";
import { Pinner } from "../media/pinner.ts";
import { MediaWorker } from "../media/worker.ts";
import { BacklogWatch } from "../metrics/backlog-watch.ts";
import { Pruner } from "../operator/pruner.ts";
import { ForeignSimulations } from "../relayer/foreign-simulations.ts";
import type { GasMeter } from "../relayer/gas-meter.ts";
import { Lane } from "../relayer/lane.ts";
import { LaneShare, type Relayers } from "../relayer/lane-share.ts";
import { leaseTimes } from "../shared/lease.ts";
import type { Metrics } from "../shared/metrics.ts";
import type { Signals } from "../shared/signal.ts";
import type { Database } from "../store/db/database.ts";
import { Dispatcher } from "../webhooks/dispatcher.ts";
import type { EventStreams } from "../v1/streams/event-streams.ts";
import type { ChainIdentity } from "./chain-identity.ts";
import { blockPollOf, confirmationsOf } from "./chain-defaults.ts";
import type { Content } from "./content.ts";

const WEI_PER_GWEI = 1_000_000_000n;

/** A background worker: it runs until it is stopped. */
export interface Worker {
  run(abort: AbortSignal): Promise<void>;
  /** Why it cannot work now; null when it can. */
  readonly lastError: string | null;
}

export interface NamedWorker {
  name: string;
  worker: Worker;
  /** Whether `readyz` reports it. A failing Kubo node, failing IPFS peers or failing contracts of others do not make this process unready. */
  critical: boolean;
}

/** How a worker is. It can be sent to another thread. */
export interface WorkerHealth {
  name: string;
  critical: boolean;
  /** Why it cannot work now; null when it can. */
  lastError: string | null;
}

export function healthOf({ name, critical, worker }: NamedWorker): WorkerHealth {
  return { name, critical, lastError: worker.lastError };
}

export interface WorkerDeps {
  database: Database;
  client: ChainClient;
  identity: ChainIdentity;
  keys: Keys;
  content: Content;
  signals: Signals;
  streams: EventStreams;
  logger: Logger;
  metrics: Metrics;
  now: () => number;
  /** Whether the chain is a local one. */
  local: boolean;
  /** null without the role `relayer`. */
  signing: Signing | null;
}

/** What the role `relayer` needs. */
export interface Signing {
  keyring: Keyring;
  /** The lanes that this process drives, with those that the settings no longer have. */
  lanes: number[];
  /** Knows what calls cost. */
  gas: GasMeter;
  /** The processes that share the lanes. */
  relayers: Relayers;
}

/** The workers of this process's roles. None runs yet. */
export function createWorkers(settings: Settings, deps: WorkerDeps): NamedWorker[] {
  const { database, signals, logger, metrics, now, content } = deps;
  const workers: NamedWorker[] = [];
  const lease = leaseTimes(settings.leaseSeconds);
  const hosted = { database, wake: signals.hosted, logger, now, lease };
  const add = (name: string, worker: Worker, critical: boolean) => workers.push({ name, worker, critical });

  if (settings.roles.includes("api")) {
    add("backlog", new BacklogWatch({ database, logger, now }), false);
    add("streams", deps.streams, false);
  }
  if (deps.signing !== null) {
    const { signing } = deps;
    const simulations = createSimulations(settings, deps);
    const share = new LaneShare(settings.lanes.length, signing.relayers, lease);
    add("simulations", simulations, false);
    for (const index of signing.lanes) {
      add(`lane ${index.toString()}`, createLane(settings, { ...deps, signing, simulations, share }, index), true);
    }
    add("gas", signing.gas, false);
  }
  if (settings.roles.includes("indexer")) {
    add("indexer", createIndexer(settings, deps), true);
    add("contracts", createContractReader(settings, deps), false);
    add("pruning", new Pruner({ database, logger, metrics, now, lease, retain: settings.retain }), false);
  }
  if (settings.roles.includes("webhooks")) {
    const { agent } = content;
    const sealer = needed(deps.keys.sealer);
    const delivering = { database, sealer, agent, wake: signals.deliveries, logger, metrics, now, lease };
    add("webhooks", new Dispatcher(delivering), true);
  }
  if (settings.roles.includes("media")) {
    const { blocks, agent, gateway } = content;
    const { mediaBytes: maxBytes, mediaSeconds } = settings.limits;
    const copying = { blocks, agent, gateway, maxBytes, deadline: mediaSeconds * 1000 };
    add("media", new MediaWorker({ database, signals, logger, metrics, now, lease, ...copying }), true);
    if (settings.ipfsPinRpc !== null) {
      add("pins", new Pinner({ ...hosted, blocks, rpc: settings.ipfsPinRpc }), false);
    }
  }
  // Content opens the node only in a process with the role `ipfs`.
  const { ipfsNode } = content;
  if (ipfsNode !== null) add("announcements", new Announcer({ ...hosted, announce: ipfsNode.announce }), false);
  return workers;
}

function createSimulations(settings: Settings, deps: WorkerDeps): ForeignSimulations {
  const { database, client, identity, logger } = deps;
  const { itemGas, simulationSeconds } = settings.limits;
  return new ForeignSimulations({
    client,
    read: database.read,
    relay: identity.contracts.relay,
    maxItemGas: itemGas,
    budget: simulationSeconds * 1000,
    logger,
  });
}

function createLane(
  settings: Settings,
  deps: WorkerDeps & { signing: Signing; simulations: ForeignSimulations; share: LaneShare },
  index: number,
): Lane {
  const { database, client, identity, signals, logger, metrics, now } = deps;
  const { keyring, gas } = deps.signing;
  return new Lane(index, {
    database,
    read: database.read,
    client,
    ...identity,
    signals,
    logger,
    metrics,
    now,
    keyring,
    gas,
    maxItemGas: settings.limits.itemGas,
    simulations: deps.simulations,
    maxFeePerGas: BigInt(settings.maxFeeGwei) * WEI_PER_GWEI,
    draining: !settings.lanes.includes(index),
    share: deps.share,
    lease: leaseTimes(settings.leaseSeconds),
    resendPolicy: {
      rebroadcastAfter: settings.rebroadcastSeconds * 1000,
      replaceAfter: settings.replaceSeconds * 1000,
    },
  });
}

function createIndexer(settings: Settings, deps: WorkerDeps): Indexer {
  const { database, client, identity, signals, logger, metrics, now, local } = deps;
  return new Indexer({
    database,
    client,
    contracts: identity.contracts,
    signals,
    logger,
    metrics,
    now,
    confirmations: confirmationsOf(settings, local),
    pollInterval: blockPollOf(settings, local),
    foreignCallGas: settings.limits.foreignCallGas,
    maxForeignLogs: settings.limits.foreignLogs,
    lease: leaseTimes(settings.leaseSeconds),
  });
}

function createContractReader(settings: Settings, deps: WorkerDeps): ContractReader {
  const { database, client, signals, logger, now, local } = deps;
  return new ContractReader({
    database,
    client,
    wake: signals.contracts,
    logger,
    now,
    confirmations: confirmationsOf(settings, local),
    foreignCallGas: settings.limits.foreignCallGas,
    readsPerMinute: settings.limits.contractReads,
  });
}
