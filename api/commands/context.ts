import type { ForeignContracts } from "../chain/foreign.ts";
import type { ReceiverReads } from "../chain/receivers.ts";
import type { Limits } from "../config/limits.ts";
import type { Sealer } from "../keys/sealer.ts";
import type { Metrics } from "../shared/metrics.ts";
import type { NewWallet, WalletOwner } from "../store/apps/wallets.ts";
import type { Database } from "../store/db/database.ts";
import type { AcceptQueue } from "./accept-queue.ts";
import type { LookUps } from "./look-ups.ts";

/**
 * What the commands of callers need. `v1/app.ts` makes one for a process: its `HttpDeps`. The handler of a call gets a copy of it,
 * whose database also checks the caller (`v1/mount.ts`).
 */
export interface CommandContext {
  database: Database;
  lookUps: LookUps;
  /** The wallets of the owners, in their order. They are not stored yet. */
  deriveWallets: (owners: readonly WalletOwner[]) => Promise<NewWallet[]>;
  /** Calls that arrive together are decided together. */
  acceptQueue: Pick<AcceptQueue, "decide">;
  sealer: Sealer;
  foreign: ForeignContracts;
  receivers: ReceiverReads;
  /** Address of the relay, which can be neither a destination nor an owner. */
  relay: string;
  settings: { limits: Pick<Limits, "contracts" | "simulationSeconds"> };
  /** Notified when a request can be claimed, or waits for its media. */
  signals: Record<"requests" | "media", { notify(): void }>;
  metrics: Pick<Metrics, "requests">;
}
