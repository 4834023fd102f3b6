import type { Logger } from "pino";

import type { ChainClient } from "../chain/client.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import type { Keyring } from "../keys/keyring.ts";
import type { LeaseTimes } from "../shared/lease.ts";
import type { Metrics } from "../shared/metrics.ts";
import type { Signals } from "../shared/signal.ts";
import type { Database } from "../store/db/database.ts";
import type { Doubts } from "./doubts.ts";
import type { ForeignSimulations } from "./foreign-simulations.ts";
import type { GasMeter } from "./gas-meter.ts";
import type { LaneShare } from "./lane-share.ts";

/** What a lane works with. Only the logger is its own; the lanes of a process share the rest. */
export interface RelayerContext {
  database: Database;
  client: ChainClient;
  chainId: bigint;
  contracts: ContractAddresses;
  keyring: Keyring;
  signals: Signals;
  logger: Logger;
  metrics: Metrics;
  now: () => number;
  /** What calls cost on the connected chain, as measured last. */
  gas: GasMeter;
  /** The most gas that the foreign code of one item may burn. */
  maxItemGas: number;
  /** Highest price per unit of gas that the operator accepts, in wei. */
  maxFeePerGas: bigint;
  simulations: ForeignSimulations;
  doubts: Doubts;
  /** How many lanes this process drives. It does not count lanes that drain. */
  share: LaneShare;
  leaseTimes: LeaseTimes;
  /** An unmined transaction is broadcast again after this time, in milliseconds. */
  rebroadcastAfter: number;
  /** An unmined transaction is replaced with a higher fee after this time, in milliseconds. */
  replaceAfter: number;
}
