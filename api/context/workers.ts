import type { Logger } from "pino";

import type { ChainClient } from "../chain/client.ts";
import type { Settings } from "../config/settings.ts";
import type { Role } from "../config/variables.ts";
import type { Metrics } from "../shared/metrics.ts";
import type { Signals } from "../shared/signal.ts";
import type { Database } from "../store/db/database.ts";
import { LoneRuns } from "../store/db/under-way.ts";
import type { EventStreams } from "../v1/streams/event-streams.ts";
import type { ChainIdentity } from "./chain-identity.ts";
import type { Content } from "./content.ts";
import type { Keys } from "./keys.ts";
import type { Signing } from "./roles/relayer.ts";

/** The code of this process's roles; null for a role that it does not have. */
export type RoleCode = Awaited<ReturnType<typeof loadRoles>>;

/**
 * Loads the code of the roles. Most of a start, and half of the memory of an idle process, is loaded modules: so a process,
 * and each of its threads, loads only what its roles need.
 */
export async function loadRoles(roles: readonly Role[]) {
  const load = async <T>(role: Role, code: () => Promise<T>) => (roles.includes(role) ? code() : null);
  return {
    api: await load("api", () => import("./roles/api.ts")),
    relayer: await load("relayer", () => import("./roles/relayer.ts")),
    indexer: await load("indexer", () => import("./roles/indexer.ts")),
    webhooks: await load("webhooks", () => import("./roles/webhooks.ts")),
    media: await load("media", () => import("./roles/media.ts")),
    ipfs: await load("ipfs", () => import("./roles/ipfs.ts")),
  };
}

/** A background worker: it runs until it is stopped. */
interface Worker {
  run(abort: AbortSignal): Promise<void>;
  /** Why it cannot work now; null when it can. */
  readonly lastError: string | null;
}

export interface NamedWorker {
  name: string;
  worker: Worker;
  /** Whether `readyz` reports it. A failing Kubo node, failing IPFS peers or failing contracts of others are only logged. */
  critical: boolean;
}

/** How a worker is. It can be sent to another thread. */
export type WorkerHealth = Pick<NamedWorker, "name" | "critical"> & Pick<Worker, "lastError">;

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
  /** null without the role `api`. */
  streams: EventStreams | null;
  logger: Logger;
  metrics: Metrics;
  now: () => number;
  /** Whether the chain is a local one. */
  local: boolean;
  /** All workers of the process share it. */
  lone: LoneRuns;
  /** null without the role `relayer`. */
  signing: Signing | null;
}

/** The workers of this process's roles. None runs yet. */
export function createWorkers(settings: Settings, code: RoleCode, parts: Omit<WorkerDeps, "lone">): NamedWorker[] {
  const deps = { ...parts, lone: new LoneRuns() };
  const { streams, signing } = deps;
  return [
    ...(code.api === null || streams === null ? [] : code.api.apiWorkers(deps, streams)),
    ...(code.relayer === null || signing === null ? [] : code.relayer.relayerWorkers(settings, deps, signing)),
    ...(code.indexer?.indexerWorkers(settings, deps) ?? []),
    ...(code.webhooks?.webhookWorkers(settings, deps) ?? []),
    ...(code.media?.mediaWorkers(settings, deps) ?? []),
    ...(code.ipfs?.ipfsWorkers(settings, deps) ?? []),
  ];
}
