import type { Logger } from "pino";

import type { ChainClient } from "../chain/client.ts";
import type { NodesState } from "../chain/nodes.ts";
import { readRelayStatus } from "../chain/reads.ts";
import {
  FUNDS_FOR_BATCHES,
  isLowOnFunds,
  offeredPrice,
  SPENDING_PERIOD,
  usualBatchCost,
} from "../domain/conditions.ts";
import { GWEI } from "../domain/wei.ts";
import type { Settings } from "../config/settings.ts";
import type { PipelineReasons } from "../domain/waiting-for.ts";
import type { Keyring } from "../keys/keyring.ts";
import { type DiskSpace, readDisk } from "../shared/folder.ts";
import { leaseTimes } from "../shared/lease.ts";
import type { Database } from "../store/db/database.ts";
import { countProcesses, type SharedRole } from "../store/db/presence.ts";
import type { Db } from "../store/db/sql.ts";
import { countDeliveries, databaseBytes, type PipelineState, readPipeline } from "../store/doctor/pipeline.ts";
import { readGasMeasurement } from "../store/requests/gas-measurement.ts";
import { allLanes, readReasons } from "../store/sending/lanes.ts";
import { recentBatchGas, spentSince } from "../store/sending/spent.ts";
import type { DoctorContext } from "./check.ts";
import { type Source, source } from "./source.ts";

/** What the node says about the installation. Amounts are in wei. */
export interface ChainState {
  /** The newest block. */
  head: number;
  /** null: no relay answers. */
  relayPaused: boolean | null;
  /** What a unit of gas costs now. */
  gasPrice: bigint;
  /** Whether that is more than the operator accepts: then nothing is sent. */
  feesTooHigh: boolean;
  /** What a transaction like the recent ones may cost at the present fees. */
  batchCost: bigint;
  balances: LaneBalance[];
}

export interface LaneBalance {
  lane: number;
  address: string;
  /** Whether the settings have this lane. One of earlier settings sends nothing new, so it is never low. */
  inUse: boolean;
  wei: bigint;
  low: boolean;
  /** What to send to it; null: it is not low. */
  advised: bigint | null;
}

interface ChainStateDeps {
  client: ChainClient;
  read: Db;
  /** Address of the relay. */
  relay: string;
  settings: Settings;
  /** With it, lanes of the settings that have sent nothing yet are shown, too. */
  keyring?: Keyring | null;
}

export async function readChainState(deps: ChainStateDeps): Promise<ChainState> {
  const { client, read, relay, keyring = null } = deps;
  const { lanes, maxFeeGwei } = deps.settings;
  const maxFeePerGas = BigInt(maxFeeGwei) * GWEI;
  const addresses = new Map((await allLanes(read)).map(({ lane, address }) => [lane, address]));
  for (const lane of keyring === null ? [] : lanes)
    if (!addresses.has(lane)) addresses.set(lane, keyring?.lane(lane).address ?? "");
  const rows = [...addresses].sort(([one], [other]) => one - other);
  const { measurement } = await readGasMeasurement(read);
  const recentGas = await recentBatchGas(read);
  const [block, priorityFee, { paused }, balances] = await client.nodes.session(() =>
    Promise.all([
      client.latestBlock(),
      client.priorityFee(),
      readRelayStatus(client, relay, []),
      client.balances(rows.map(([, address]) => address)),
    ]),
  );
  const baseFee = block.baseFeePerGas ?? 0n;
  const gasPrice = baseFee + priorityFee;
  const batchCost = usualBatchCost(recentGas, measurement, offeredPrice(baseFee, priorityFee, maxFeePerGas));
  return {
    head: block.number,
    relayPaused: paused,
    gasPrice,
    feesTooHigh: gasPrice > maxFeePerGas,
    batchCost,
    balances: rows.map(([lane, address], index) => {
      const [wei, inUse] = [balances[index] ?? 0n, lanes.includes(lane)];
      const low = inUse && isLowOnFunds(wei, batchCost);
      return { lane, address, inUse, wei, low, advised: low ? batchCost * FUNDS_FOR_BATCHES : null };
    }),
  };
}

/** Reads each part when it is first asked for. */
export function readOnce(context: Omit<DoctorContext, "state">): DoctorContext["state"] {
  const { database, client, chain, settings, keys, now } = context;
  const { read } = database;
  const deps = { client, read, relay: chain.contracts.relay, settings, keyring: keys.keyring };
  return {
    database: once(() => readPipeline(read, now)),
    chain: once(() => readChainState(deps)),
    nodes: once(async () => ({ ...(await client.nodes.examine()), isLimited: false })),
  };
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | null = null;
  return () => (result ??= read());
}

/** What each lane's transactions of the last day cost, in wei. */
export async function readSpending(read: Db, lanes: readonly number[], now: number): Promise<Map<number, bigint>> {
  const spent = new Map<number, bigint>();
  for (const lane of lanes) spent.set(lane, await spentSince(read, lane, now - SPENDING_PERIOD));
  return spent;
}

/** Milliseconds for which a result is reused. Adding up what a busy lane spent in a day takes long. */
const FRESH = { database: 1_000, chain: 5_000, disk: 10_000, spent: 60_000 };

interface StateDeps {
  database: Database;
  client: ChainClient;
  relay: string;
  logger: Logger;
  now: () => number;
}

/** The state of the whole service, for `/metrics` and the operator's pages. However many callers ask, each source is read once at a time. */
export interface ServiceState {
  now: () => number;
  /** Numbers of the lanes that the settings have. */
  lanes: readonly number[];
  /** Empty with one node. */
  nodes: () => NodesState;
  database: Source<PipelineState & { bytes: number }>;
  chain: Source<ChainState>;
  disk: Source<DiskSpace>;
  /** What the processes say that send and follow requests. */
  reasons: Source<PipelineReasons>;
  /** By lane, in wei. */
  spent: Source<ReadonlyMap<number, bigint>>;
  deliveries: Source<{ waiting: number; dead: number }>;
  processes: Source<Record<SharedRole, number>>;
}

export function createServiceState(settings: Settings, deps: StateDeps): ServiceState {
  const { database, client, logger, now } = deps;
  const { lanes, dataDir } = settings;
  const { read } = database;
  /** Milliseconds for which a process says that it runs. */
  const presence = leaseTimes(settings.leaseSeconds).lasts;
  const count = (role: SharedRole) => countProcesses(read, role, { now: now(), lasts: presence, within: presence });
  const ofDatabase = <T>(name: string, work: () => Promise<T>) => source(name, work, { fresh: FRESH.database, logger });
  return {
    ...{ now, lanes, nodes: () => client.nodes.state() },
    database: ofDatabase("database", async () => ({
      ...(await readPipeline(read, now())),
      bytes: await databaseBytes(read),
    })),
    chain: source("chain", () => readChainState({ ...deps, read, settings }), {
      fresh: FRESH.chain,
      logger,
    }),
    disk: source("disk", () => readDisk(dataDir), { fresh: FRESH.disk, logger }),
    reasons: ofDatabase("reasons", () => readReasons(read, { lanes, now: now(), presence })),
    spent: source("spending", () => readSpending(read, lanes, now()), { fresh: FRESH.spent, logger }),
    deliveries: ofDatabase("deliveries", () => countDeliveries(read)),
    processes: ofDatabase("processes", async () => ({
      api: await count("api"),
      relayer: await count("relayer"),
      other: await count("other"),
    })),
  };
}
