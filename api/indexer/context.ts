import type { Logger } from "pino";

import type { ChainClient } from "../chain/client.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import type { LeaseTimes } from "../shared/lease.ts";
import type { Metrics } from "../shared/metrics.ts";
import type { Signals } from "../shared/signal.ts";
import type { Database } from "../store/db/database.ts";
import type { ReceiptCheck } from "./receipt-check.ts";
import type { SliceSize } from "./slices.ts";

/** What the indexer works with. It is made once, and passed on whole. */
export interface IndexerContext {
  database: Database;
  client: ChainClient;
  contracts: ContractAddresses;
  /** Null: the node's logs are not checked against the receipts of their blocks. */
  receipts: Pick<ReceiptCheck, "check" | "isProving"> | null;
  signals: Signals;
  logger: Logger;
  metrics: Pick<Metrics, "requests" | "batchGas" | "reorg">;
  now: () => number;
  /** A block is final once it is this many blocks deep, itself included. */
  confirmations: number;
  /** How often to ask the node for its newest block, in milliseconds. */
  pollInterval: number;
  /** Null: no lease. The checkpoint alone then keeps two writers apart. */
  leaseTimes: LeaseTimes | null;
  /** Gas limit of one call of a foreign contract. */
  foreignCallGas: number;
  /** A foreign contract with more moves than this in 500 blocks is quarantined. */
  maxForeignMoves: number;
  /** Replaces `MOST_STRANGER_MOVES` in tests. */
  strangerMoves?: number;
  /** How many moves and other events one commit stores. Absent: it adapts to how long commits take. */
  sliceSize?: Pick<SliceSize, "value" | "took">;
  /** Moves of a block whose history is stored in the same commit as the rest. Absent: `LARGEST_HISTORY`. */
  largestHistory?: number;
}
