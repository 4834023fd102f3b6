import type { Examination } from "../checks/examine.ts";
import type { Source } from "../checks/source.ts";
import type { ServiceState } from "../checks/state.ts";
import type { Logger } from "pino";

import type { Adoptables } from "../chain/adoptable.ts";
import type { ForeignContracts } from "../chain/foreign.ts";
import type { ReceiverReads } from "../chain/receivers.ts";
import type { AcceptQueue } from "../commands/accept-queue.ts";
import type { CommandContext } from "../commands/context.ts";
import type { LookUps } from "../commands/look-ups.ts";
import type { UploadPlaces } from "../commands/upload-media.ts";
import type { Settings } from "../config/settings.ts";
import type { Readiness } from "../domain/conditions.ts";
import type { BlockStore } from "../content/block-store.ts";
import type { Sealer } from "../keys/sealer.ts";
import type { WalletDeriver } from "../keys/wallet-deriver.ts";
import type { AddressPolicy } from "../outbound/addresses.ts";
import type { Metrics } from "../shared/metrics.ts";
import type { Signal } from "../shared/signal.ts";
import type { Database } from "../store/db/database.ts";
import type { Arrivals } from "./gate.ts";
import type { Exports } from "./exports/exports.ts";
import type { HeldBytes } from "./held-bytes.ts";
import type { RateLimit } from "./rate-limit.ts";
import type { EventStreams } from "./streams/event-streams.ts";

/** Everything that the HTTP side needs. */
export interface AppDeps {
  settings: Pick<
    Settings,
    "publicUrl" | "explorerUrl" | "trustProxy" | "limits" | "appGasPerDay" | "appQuotas" | "dataDir"
  >;
  database: Database;
  /** Blocks of the content hosted on IPFS. */
  blocks: BlockStore;
  deriver: WalletDeriver;
  sealer: Sealer;
  foreign: ForeignContracts;
  adoptables: Adoptables;
  receivers: ReceiverReads;
  /** Notified after a commit: a request can be claimed, media must be fetched, a contract must be read, a delivery is due. */
  signals: Record<"requests" | "media" | "contracts", { notify(): void }> & {
    /** Raised by the indexer, too, when it has stored blocks. */
    deliveries: Pick<Signal, "notify" | "listen">;
  };
  /** The addresses that webhook URLs may resolve to. */
  addressPolicy: AddressPolicy;
  streams: EventStreams;
  arrivals: Arrivals;
  logger: Logger;
  metrics: Pick<Metrics, "requests" | "http" | "serving">;
  /** Whether the process can serve calls now, and the result of each check. */
  readiness(): Promise<Readiness>;
  /** The state of the whole service. */
  state: ServiceState;
  /** The findings of `doctor`; null while the checks take too long, or end with an error. */
  doctor: Source<Examination & { checkedAt: number }>;
  /** How many API processes run now, this one included. */
  apiProcesses: () => number;
  chainId: number;
  /** On a local chain, the beginning of a command line for this service's database. null elsewhere. */
  localCli: string | null;
  /** Why the node's chain is not the chain of the database; null while it is. */
  chainProblem(): string | null;
  /** Address of the relay contract. */
  relay: string;
}

/** What the endpoints need, and with it the commands: it is also their `CommandContext`. */
export interface HttpDeps extends AppDeps {
  /** Calls that arrive together are decided together. */
  acceptQueue: Pick<AcceptQueue, "decide">;
  deriveWallets: CommandContext["deriveWallets"];
  lookUps: LookUps;
  uploads: UploadPlaces;
  exports: Exports;
  rates: RateLimit;
  bytes: HeldBytes;
}
