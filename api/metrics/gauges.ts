import { Registry } from "prom-client";

import type { NodeState } from "../chain/chain-node.ts";
import type { ChainState, ServiceState } from "../checks/state.ts";
import { conditionsNow } from "../checks/condition-checks.ts";
import { ageOf } from "../domain/conditions.ts";
import type { PipelineState } from "../store/doctor/pipeline.ts";
import { counter, gauge, METRICS } from "./catalog.ts";
import type { Measurements } from "./meter.ts";

/** Figures that do not depend on the process, because they are read on demand: the database, the chain, this machine's disk. */
export async function readGauges(state: ServiceState): Promise<Measurements> {
  const [database, chain, disk] = await Promise.all([state.database(), state.chain(), state.disk()]);
  const nodes = state.nodes();
  const now = state.now();
  // A new registry each time, so that a figure that cannot be read now is missing and not out of date.
  const registry = new Registry();
  const up = gauge(registry, METRICS.source);
  for (const [source, value] of Object.entries({ database, chain, disk })) up.set({ source }, Number(value !== null));
  if (database !== null) addPipeline(registry, database, now);
  if (chain !== null) addBalances(registry, chain);
  if (chain !== null && database !== null) {
    gauge(registry, METRICS.indexLag).set(Math.max(0, chain.head - database.checkpoint));
  }
  if (disk !== null) {
    gauge(registry, METRICS.diskUsed).set(disk.used);
    gauge(registry, METRICS.diskFree).set(disk.free);
  }
  addNodes(registry, nodes.states);
  addConditions(registry, { database, chain, nodes }, now);
  addProcess(registry);
  return registry.getMetricsAsJSON();
}

function addPipeline(registry: Registry, state: PipelineState & { bytes: number }, now: number): void {
  const backlog = gauge(registry, METRICS.backlog);
  for (const [name, count] of Object.entries(state.backlog)) backlog.set({ state: name }, count);
  gauge(registry, METRICS.backlogOldest).set(secondsOf(state.oldestUnsent, now));
  const unmined = gauge(registry, METRICS.laneOldestUnmined);
  for (const { lane, oldestUnmined } of state.lanes) unmined.set({ lane }, secondsOf(oldestUnmined, now));
  gauge(registry, METRICS.webhookOldest).set(secondsOf(state.overdueSince, now));
  gauge(registry, METRICS.quarantined).set(state.quarantined.length);
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

function addConditions(registry: Registry, state: Parameters<typeof conditionsNow>[0], now: number): void {
  const conditions = gauge(registry, METRICS.condition);
  for (const [condition, holds] of conditionsNow(state, now)) conditions.set({ condition }, Number(holds));
}

function addProcess(registry: Registry): void {
  const { user, system } = process.cpuUsage();
  counter(registry, METRICS.cpu).inc((user + system) / 1e6);
  gauge(registry, METRICS.memory).set(process.memoryUsage.rss());
  gauge(registry, METRICS.startTime).set(performance.timeOrigin / 1_000);
}

function secondsOf(since: number | null, now: number): number {
  return ageOf(since, now) / 1_000;
}
