import type { Logger } from "pino";

import type { ForeignContracts } from "../chain/foreign-contracts.ts";
import type { Limits } from "../config/limits.ts";
import type { BlockFiles } from "../ipfs/block-files.ts";
import type { Sealer } from "../keys/sealer.ts";
import type { WalletDeriver } from "../keys/wallet-deriver.ts";
import type { AddressPolicy } from "../outbound/addresses.ts";
import type { Database } from "../store/db/database.ts";

/** What the HTTP side is made of. */
export interface HttpDeps {
  settings: { publicUrl: string; limits: Limits; appGasPerDay: number | null };
  database: Database;
  /** What is hosted on IPFS. */
  blocks: BlockFiles;
  deriver: WalletDeriver;
  sealer: Sealer;
  foreign: ForeignContracts;
  /** Told after the commit: that a request became claimable, that a delivery became due, that content is waited for. */
  signals: { requests: { notify(): void }; deliveries: { notify(): void }; media: { notify(): void } };
  /** Where webhooks may lead. */
  addressPolicy: AddressPolicy;
  logger: Logger;
  /** Whether the service can do its work now, and the word of each check ("ok", or what is wrong). */
  readiness(): Promise<{ ready: boolean; checks: Record<string, string> }>;
  chainId: number;
}
