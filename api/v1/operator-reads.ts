import type { NodeState } from "../chain/node-choice.ts";
import type { Condition } from "../domain/conditions.ts";
import type { PipelineReasons } from "../domain/waiting-for.ts";

/** What the operator's calls read about the whole service. Times are milliseconds since 1970. */
export interface OperatorReads {
  /** Null while the database cannot be read. */
  overview(): Promise<OverviewOfService | null>;
  /** Null while the database cannot be read. It is read at most once a second, however many calls ask. */
  reasons(): Promise<PipelineReasons | null>;
  /** Null when the checks take too long, or end with an error. They run once at a time, and each result serves several calls. */
  doctor(): Promise<DoctorReport | null>;
}

interface OverviewOfService {
  backlog: Record<"media" | "pending" | "processing", number>;
  /** When the oldest request that waits to be sent was accepted; null when none waits. */
  oldestUnsent: number | null;
  quarantined: number;
  overdueSince: number | null;
  checkpoint: number;
  /** The newest block; null while the node does not answer. */
  head: number | null;
  /** Null: it is not known. */
  relayPaused: boolean | null;
  feesTooHigh: boolean | null;
  deliveries: Record<"waiting" | "dead", number>;
  processes: Record<"api" | "relayer" | "other", number>;
  lanes: LaneOfService[];
  /** Empty with one node. */
  nodes: readonly NodeState[];
}

export interface LaneOfService {
  lane: number;
  address: string;
  /** Whether the settings have this lane. One of earlier settings only finishes what it began. */
  inUse: boolean;
  /** When its oldest unmined batch was signed; null when it has none. */
  oldestUnmined: number | null;
  /** In wei; null while the node does not answer. */
  balance: bigint | null;
  lowFunds: boolean | null;
  /** What to send to it, in wei; null: nothing, or not known. */
  advised: bigint | null;
  /** What its transactions of one day cost, in wei; null while that is not known. */
  spent: bigint | null;
  daysLeft: number | null;
}

interface DoctorReport {
  result: "ok" | "warning" | "problem";
  findings: { check: string; result: "ok" | "warning" | "problem"; words: string; condition?: Condition }[];
  checkedAt: number;
}
