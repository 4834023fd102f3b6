import { LANE_STUCK } from "./conditions.ts";

/** Why a request is not final yet, and what each word means to an app. Words name nothing of the installation or of other apps. */
export const WAITING_FOR = {
  media: "Its media is being copied, or its metadata is being frozen.",
  queued: "It waits for its turn to be sent.",
  simulation: "Its call is being simulated and signed, or is simulated again later.",
  gas_limit: "As far as one node says, no transaction has room for its gas. It is tried again within a minute.",
  fees_too_high: "Gas costs more than the operator accepts. It is sent when fees fall.",
  low_funds: "The keys that pay for transactions cannot pay. It is sent when the operator has funded them.",
  paused: "The operator has paused the relay.",
  node_unavailable: "The node of the chain does not answer.",
  nodes_disagree: "The nodes of the chain contradict each other, or too few of them agree.",
  lane_stuck: "No block has contained its transaction, or one before it, for more than five minutes.",
  withdrawal: "The operator is moving coins out of its wallet. It is sent when that transaction is final.",
  confirmations: "Its transaction was sent. It waits for a block, and for blocks after it.",
  unknown: "The service does not know. For example, no process that sends requests runs.",
} as const;
export type WaitingFor = keyof typeof WAITING_FOR;

/** Reasons that a process stores when it cannot go on. */
export type StoredReason = Exclude<WaitingFor, "media" | "queued" | "lane_stuck" | "confirmations">;

/** What the processes that send and follow requests have stored about themselves. Times are milliseconds since 1970. */
export interface PipelineReasons {
  /** Whether any process runs that sends requests. */
  isSending: boolean;
  lanes: readonly LaneReason[];
  /** What keeps the indexer from following the chain; null: nothing. */
  indexer: StoredReason | null;
}

export interface LaneReason {
  /** Whether the settings have it. A lane of earlier settings takes no new requests. */
  inUse: boolean;
  /** What keeps it from sending; null: nothing. */
  waitingFor: StoredReason | null;
  /** Its unmined batches, and when each was signed. */
  unmined: readonly { id: number; createdAt: number }[];
}

/** What the answer depends on of a request's row. `api/store/db/schema.ts` says what the columns mean. */
interface WaitingRow {
  status: "pending" | "processing" | "completed" | "failed";
  ready_at: number | null;
  lane: number | null;
  batch_id: number | null;
  block_number: number | null;
  waiting_for: StoredReason | null;
}

/** @param reasons null: they cannot be read. @returns null when the request is final. */
export function waitingFor(row: WaitingRow, reasons: PipelineReasons | null, now: number): WaitingFor | null {
  if (row.status === "completed" || row.status === "failed") return null;
  if (row.block_number !== null) return reasons === null ? "unknown" : (reasons.indexer ?? "confirmations");
  if (row.batch_id !== null) return reasons === null ? "unknown" : sentWaitsFor(row.batch_id, reasons, now);
  if (row.lane === null && row.ready_at === null) return "media";
  if (reasons === null) return "unknown";
  const unsent = unsentWaitsFor(reasons, now);
  if (unsent !== "queued") return unsent;
  if (row.lane !== null) return "simulation";
  return row.waiting_for !== null && (row.ready_at ?? 0) > now ? row.waiting_for : "queued";
}

function sentWaitsFor(batch: number, { lanes, indexer }: PipelineReasons, now: number): WaitingFor {
  const its = lanes.find(({ unmined }) => unmined.some(({ id }) => id === batch));
  const reason = its === undefined ? null : reasonOf(its, now);
  // A transaction that was sent does not wait for the relay.
  return (reason === "paused" ? null : reason) ?? indexer ?? "confirmations";
}

/** What every request waits for that is ready to be sent. One lane that can send is enough. */
export function unsentWaitsFor({ isSending, lanes }: PipelineReasons, now: number): WaitingFor {
  if (!isSending) return "unknown";
  const [first, ...others] = lanes.filter(({ inUse }) => inUse).map((lane) => reasonOf(lane, now));
  return first == null || others.includes(null) ? "queued" : first;
}

function reasonOf({ waitingFor: stored, unmined }: LaneReason, now: number): WaitingFor | null {
  return stored ?? (unmined.some(({ createdAt }) => now - createdAt > LANE_STUCK) ? "lane_stuck" : null);
}
