import type { Logger } from "pino";

import type { ChainClient } from "../chain/client.ts";
import type { Settings } from "../config/settings.ts";
import type { Role } from "../config/variables.ts";
import type { Meter } from "../metrics/meter.ts";
import type { AddressPolicy } from "../outbound/addresses.ts";
import { type LeaseTimes, leaseTimes } from "../shared/lease.ts";
import type { Metrics } from "../shared/metrics.ts";
import type { Signals } from "../shared/signal.ts";
import type { Database } from "../store/db/database.ts";
import type { SchemaError } from "../store/db/migrate.ts";
import { LoneRuns } from "../store/db/under-way.ts";
import type { Chain } from "./chain-identity.ts";
import { guardChain } from "./chain-link.ts";
import { type Content, openContent } from "./content.ts";
import type { Keys } from "./keys.ts";

/** What this thread has opened first. */
export interface Connections {
  meter: Meter;
  database: Database;
  client: ChainClient;
}

/** What belongs to the database, as checked at the start. */
export interface CheckedIdentity {
  chain: Chain;
  keys: Keys;
  /** The lanes of the settings, and those of earlier settings, which finish what they began. Empty without the role `relayer`. */
  lanes: readonly number[];
}

/** What the parts of the running service work with. Each thread has its own. */
export interface Context extends CheckedIdentity {
  /** Of the process. */
  settings: Settings;
  logger: Logger;
  metrics: Metrics;
  now: () => number;
  leaseTimes: LeaseTimes;
  database: Database;
  client: ChainClient;
  content: Content;
  /** The addresses that URLs of users may resolve to. */
  addressPolicy: AddressPolicy;
  signals: Signals;
  /** All workers share it. */
  loneRuns: LoneRuns;
  /** Called when a newer version of Moneta has migrated the database: this process must end. */
  onNewerSchema: (error: SchemaError) => void;
}

interface Parts {
  settings: Settings;
  /** Of this thread. */
  roles: readonly Role[];
  logger: Logger;
  signals: Signals;
  connections: Connections;
  identity: CheckedIdentity;
  onNewerSchema: (error: SchemaError) => void;
}

/** Opens what is left to open, and puts all of it together. @param opened closes it. */
export async function createContext(parts: Parts, opened: AsyncDisposableStack): Promise<Context> {
  const { settings, roles, logger, signals, onNewerSchema } = parts;
  const { meter, database, client } = parts.connections;
  const { chain, keys, lanes } = parts.identity;
  const now = () => Date.now();
  await guardChain(client, database);
  const addressPolicy = {
    allowedHosts: new Set(settings.allowedPrivateHosts.map((host) => host.toLowerCase())),
    allowLoopback: chain.local,
  };
  const content = await openContent(settings, roles, { database, addressPolicy, logger, now }, opened);
  return {
    settings,
    logger,
    metrics: meter.metrics,
    now,
    leaseTimes: leaseTimes(settings.leaseSeconds),
    database,
    client,
    chain,
    keys,
    lanes,
    content,
    addressPolicy,
    signals,
    loneRuns: new LoneRuns(),
    onNewerSchema,
  };
}
