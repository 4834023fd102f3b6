import type { Logger } from "pino";

import type { ChainClient } from "../chain/client.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import type { Database } from "../store/db/database.ts";

export interface ReconcileDeps {
  database: Database;
  client: ChainClient;
  contracts: ContractAddresses;
  /** Address of a lane of the seed. */
  laneAddress(lane: number): string;
  logger: Logger;
  confirmations: number;
  now: () => number;
  /** Where the blocks that were read are kept, so that an interrupted run goes on. */
  folder: string;
  /** Gas limit of one call of a foreign contract. */
  foreignCallGas: number;
  /** Most transfer logs of a foreign contract in 500 blocks. */
  maxForeignLogs: number;
}

/** Reconciliation is not possible now. The message says what to do. */
export class ReconcileError extends Error {
  override readonly name = "ReconcileError";
}
