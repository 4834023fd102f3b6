import type { Logger } from "pino";

import type { ChainClient } from "../chain/client.ts";
import type { Settings } from "../config/settings.ts";
import type { AddressPolicy } from "../outbound/addresses.ts";
import { type LeaseTimes, leaseTimes } from "../shared/lease.ts";
import type { Metrics } from "../shared/metrics.ts";
import { createSignals, type Signals } from "../shared/signal.ts";
import type { Database } from "../store/db/database.ts";
import type { SchemaError } from "../store/db/migrate.ts";
import { LoneRuns } from "../store/db/under-way.ts";
import type { Chain } from "./chain-identity.ts";
import { guardChain } from "./chain-link.ts";
import { addressPolicyOf, type Content, openContent } from "./content.ts";
import type { Keys } from "./keys.ts";

/** What the parts of the running service work with. */
export interface Context {
  settings: Settings;
  logger: Logger;
  metrics: Metrics;
  now: () => number;
  leaseTimes: LeaseTimes;
  database: Database;
  client: ChainClient;
  chain: Chain;
  keys: Keys;
  /** The lanes of the settings, and those of earlier settings, which finish what they began. Empty without the role `relayer`. */
  lanes: readonly number[];
  content: Content;
  /** The addresses that URLs of users may resolve to. */
  addressPolicy: AddressPolicy;
  signals: Signals;
  /** All workers share it. */
  loneRuns: LoneRuns;
  /** Called when a newer version of Moneta has migrated the database: this process must end. */
  onNewerSchema: (error: SchemaError) => void;
}

/** What a start has opened and checked. */
type Checked = Pick<
  Context,
  "settings" | "logger" | "metrics" | "database" | "client" | "chain" | "keys" | "lanes" | "onNewerSchema"
>;

/** Opens what is left to open, and puts all of it together. @param opened closes it. */
export async function createContext(checked: Checked, opened: AsyncDisposableStack): Promise<Context> {
  const { settings, logger, database, client, chain } = checked;
  const now = () => Date.now();
  await guardChain(client, database);
  const addressPolicy = addressPolicyOf(settings, chain.local);
  return {
    ...checked,
    now,
    leaseTimes: leaseTimes(settings.leaseSeconds),
    content: await openContent(settings, { database, addressPolicy, logger, now }, opened),
    addressPolicy,
    signals: createSignals(),
    loneRuns: new LoneRuns(),
  };
}
