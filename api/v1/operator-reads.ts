import type { Condition, NodeWord } from "../domain/conditions.ts";

/** What the operator's calls read about the whole service. Times are milliseconds since 1970. */
export interface OperatorReads {
  /** Null while the database cannot be read. */
  overview(): Promise<OverviewOfService | null>;
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
  head: number | null;
  relayPaused: boolean | null;
  deliveries: Record<"waiting" | "dead", number>;
  processes: Record<"api" | "relayer" | "other", number>;
  lanes: LaneOfService[];
  nodes: NodeOfService[];
}

/** One of several nodes. */
export interface NodeOfService {
  number: number;
  host: string;
  word: NodeWord;
  head: number | null;
  /** In seconds. */
  latency: number | null;
  failures: number;
  sends: boolean;
  problem: string | null;
}

export interface LaneOfService {
  lane: number;
  address: string;
  inUse: boolean;
  oldestUnmined: number | null;
  /** In wei. */
  balance: bigint | null;
  lowFunds: boolean | null;
  /** What to send to it, in wei; null: nothing, or not known. */
  advised: bigint | null;
  /** In wei, in one day. */
  spent: bigint | null;
  daysLeft: number | null;
}

interface DoctorReport {
  result: "ok" | "warning" | "problem";
  findings: { check: string; result: "ok" | "warning" | "problem"; words: string; condition?: Condition }[];
  checkedAt: number;
}
