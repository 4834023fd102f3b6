import type { Logger } from "pino";
import { Registry } from "prom-client";

import type { ChainClient } from "../chain/client.ts";
import type { NodeChoice, NodeState } from "../chain/node-choice.ts";
import { BACKLOG_SLOW, type Condition, LANE_STUCK } from "../domain/conditions.ts";
import { type DiskSpace, readDisk } from "../shared/folder.ts";
import type { Database } from "../store/db/database.ts";
import { databaseBytes, type PipelineState, readPipeline } from "../store/metrics/pipeline.ts";
import { counter, gauge, METRICS } from "./catalog.ts";
import { type ChainState, readChainState } from "./chain-state.ts";
import type { Measurements } from "./meter.ts";
import { Source } from "./source.ts";

/** Milliseconds for which a result is reused. */
const FRESH = { database: 1_000, chain: 5_000, disk: 10_000 };

export interface GaugeDeps {
  database: Database;
  client: ChainClient;
  /** Address of the relay. */
  relay: string;
  /** Numbers of the lanes that the settings have. */
  lanes: readonly number[];
  /** Highest price per unit of gas that the operator accepts, in wei. */
  maxFeePerGas: bigint;
  dataDir: string;
  logger: Logger;
  now: () => number;
}

/** Figures that do not depend on the process, because they are read on demand: the database, the chain, this machine's disk. */
export class Gauges {
  readonly #now: () => number;
  readonly #nodes: NodeChoice;
  readonly #database: Source<PipelineState & { bytes: number }>;
  readonly #chain: Source<ChainState>;
  readonly #disk: Source<DiskSpace>;

  constructor({ database, client, relay, lanes, maxFeePerGas, dataDir, logger, now }: GaugeDeps) {
    this.#now = now;
    this.#nodes = client.nodes;
    const { read } = database;
    this.#database = new Source(
      "database",
      async () => ({ ...(await readPipeline(read, now())), bytes: await databaseBytes(read) }),
      { fresh: FRESH.database, logger },
    );
    this.#chain = new Source("chain", () => readChainState({ client, read, relay, lanes, maxFeePerGas }), {
      fresh: FRESH.chain,
      logger,
    });
    this.#disk = new Source("disk", () => readDisk(dataDir), { fresh: FRESH.disk, logger });
  }

  /** @param workersAnswer false: the thread of the workers does not answer. Null: there is none. */
  async read(workersAnswer: boolean | null): Promise<Measurements> {
    const [database, chain, disk] = await Promise.all([
      this.#database.value(),
      this.#chain.value(),
      this.#disk.value(),
    ]);
    // A new registry each time, so that a figure that cannot be read now is missing and not out of date.
    const registry = new Registry();
    const up = gauge(registry, METRICS.source);
    up.set({ source: "database" }, Number(database !== null));
    up.set({ source: "chain" }, Number(chain !== null));
    up.set({ source: "disk" }, Number(disk !== null));
    if (workersAnswer !== null) up.set({ source: "workers" }, Number(workersAnswer));
    if (database !== null) addPipeline(registry, database, this.#now());
    if (chain !== null) addBalances(registry, chain);
    if (chain !== null && database !== null) {
      gauge(registry, METRICS.indexLag).set(Math.max(0, chain.head - database.checkpoint));
    }
    if (disk !== null) {
      gauge(registry, METRICS.diskUsed).set(disk.used);
      gauge(registry, METRICS.diskFree).set(disk.free);
    }
    addNodes(registry, this.#nodes.states());
    addConditions(registry, { database, chain, nodes: this.#nodes }, this.#now());
    addProcess(registry);
    return registry.getMetricsAsJSON();
  }
}

function addPipeline(registry: Registry, state: PipelineState & { bytes: number }, now: number): void {
  const backlog = gauge(registry, METRICS.backlog);
  for (const [name, count] of Object.entries(state.backlog)) backlog.set({ state: name }, count);
  gauge(registry, METRICS.backlogOldest).set(ageOf(state.oldestUnsent, now));
  const unmined = gauge(registry, METRICS.laneOldestUnmined);
  for (const { lane, oldestUnmined } of state.lanes) unmined.set({ lane }, ageOf(oldestUnmined, now));
  gauge(registry, METRICS.webhookOldest).set(ageOf(state.overdueSince, now));
  gauge(registry, METRICS.quarantined).set(state.quarantined);
  const parked = gauge(registry, METRICS.parkedRows);
  for (const [kind, count] of Object.entries(state.parked)) parked.set({ kind }, count);
  gauge(registry, METRICS.databaseBytes).set(state.bytes);
}

function addBalances(registry: Registry, { balances }: ChainState): void {
  const balance = gauge(registry, METRICS.laneBalance);
  for (const { lane, wei } of balances) balance.set({ lane }, Number(wei));
}

function addNodes(registry: Registry, nodes: readonly NodeState[]): void {
  const [up, head] = [gauge(registry, METRICS.nodeUp), gauge(registry, METRICS.nodeHead)];
  const [latency, failures] = [gauge(registry, METRICS.nodeLatency), counter(registry, METRICS.nodeFailures)];
  for (const state of nodes) {
    const labels = { node: state.number, host: state.host };
    up.set(labels, Number(state.word === "up"));
    if (state.head !== null) head.set(labels, state.head);
    if (state.latency !== null) latency.set(labels, state.latency);
    failures.inc(labels, state.failures);
  }
}

function addConditions(
  registry: Registry,
  { database, chain, nodes }: { database: PipelineState | null; chain: ChainState | null; nodes: NodeChoice },
  now: number,
): void {
  const conditions = gauge(registry, METRICS.condition);
  const set = (condition: Condition, holds: boolean) => {
    conditions.set({ condition }, Number(holds));
  };
  set(
    "node_down",
    nodes.states().some(({ word }) => word !== "up"),
  );
  set("nodes_disagree", nodes.disagreement !== null);
  if (chain !== null) {
    set(
      "low_funds",
      chain.balances.some(({ low }) => low),
    );
    if (chain.relayPaused !== null) set("relay_paused", chain.relayPaused);
  }
  if (database !== null) {
    set("contract_quarantined", database.quarantined > 0);
    set("backlog_growing", ageOf(database.oldestUnsent, now) * 1_000 > BACKLOG_SLOW);
    set(
      "row_parked",
      Object.values(database.parked).some((count) => count > 0),
    );
    set(
      "lane_stuck",
      database.lanes.some(({ oldestUnmined }) => ageOf(oldestUnmined, now) * 1_000 > LANE_STUCK),
    );
  }
}

function addProcess(registry: Registry): void {
  const { user, system } = process.cpuUsage();
  counter(registry, METRICS.cpu).inc((user + system) / 1e6);
  gauge(registry, METRICS.memory).set(process.memoryUsage.rss());
  gauge(registry, METRICS.startTime).set(performance.timeOrigin / 1_000);
}

/** In seconds. @param since milliseconds since 1970; null: there is nothing. */
function ageOf(since: number | null, now: number): number {
  return since === null ? 0 : Math.max(0, (now - since) / 1_000);
}
