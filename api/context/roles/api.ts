import type { Logger } from "pino";

import type { ChainClient } from "../../chain/client.ts";
import type { ChainGuard } from "../../chain/chain-guard.ts";
import { createForeignContracts } from "../../chain/foreign.ts";
import type { Settings } from "../../config/settings.ts";
import { createWalletDeriver } from "../../keys/wallet-deriver.ts";
import { BacklogWatch } from "../../metrics/backlog-watch.ts";
import type { AddressPolicy } from "../../outbound/addresses.ts";
import type { Metrics } from "../../shared/metrics.ts";
import type { Signals } from "../../shared/signal.ts";
import type { Database } from "../../store/db/database.ts";
import { EventStreams } from "../../v1/streams/event-streams.ts";
import { joinApiProcesses, type PresenceParts } from "../service.ts";
import type { Chain } from "../connect-chain.ts";
import type { Content } from "../content.ts";
import { startHttp } from "../http.ts";
import { needed } from "../keys.ts";
import { createOperatorReads } from "../operator-reads.ts";
import { createReadiness } from "../readiness.ts";
import type { NamedWorker, WorkerDeps, WorkerHealth } from "../workers.ts";

/** The event streams of the API. They are a worker, too. */
export function createStreams(
  settings: Settings,
  { database, signals, logger, metrics }: { database: Database; signals: Signals; logger: Logger; metrics: Metrics },
): EventStreams {
  return new EventStreams({ ...settings, read: database.read, stored: signals.deliveries, logger, metrics });
}

/** The workers of the role `api`. */
export function apiWorkers({ database, logger, now }: WorkerDeps, streams: EventStreams): NamedWorker[] {
  return [
    { name: "backlog", worker: new BacklogWatch({ database, logger, now }), critical: false },
    { name: "streams", worker: streams, critical: false },
  ];
}

export interface ApiParts extends Chain, PresenceParts {
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
export async function serveApi(settings: Settings, parts: ApiParts, opened: AsyncDisposableStack): Promise<number> {
  const { database, client, guard, keys, health } = parts;
  return startHttp(
    {
      ...parts,
      settings,
      blocks: parts.content.blocks,
      deriver: createWalletDeriver(needed(keys.walletsPublicKey)),
      sealer: needed(keys.sealer),
      foreign: createForeignContracts(client, settings.limits.foreignCallGas),
      readiness: createReadiness({ database, client, health, logger: parts.logger }),
      operator: createOperatorReads(settings, { ...parts, blocks: parts.content.blocks }),
      apiProcesses: await joinApiProcesses(settings, parts, opened),
      chainId: Number(parts.identity.chainId),
      chainProblem: () => guard.problem,
    },
    settings,
    opened,
  );
}
