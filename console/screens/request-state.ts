import type { Shape } from "../../client/client.ts";

export type Request = Shape<"Request">;

/** What a request does, as the name of a row. */
export const TYPE_NAMES: Record<Request["type"], string> = {
  collection: "Create a collection",
  mint: "Mint",
  transfer: "Transfer",
  burn: "Burn",
  metadata: "Change metadata",
  freeze: "Freeze metadata",
};

const DONE: Record<Request["type"], string> = {
  collection: "The collection exists on the chain.",
  mint: "The token is minted.",
  transfer: "The token is at its destination.",
  burn: "The token is burnt. Nobody has it any more.",
  metadata: "The metadata is changed.",
  freeze: "The metadata is frozen. It can never change.",
};

type State = Pick<Request, "type" | "status" | "waiting_for" | "error_message" | "block_number">;
type Reason = NonNullable<Request["waiting_for"]>;

/** What a request waits for; null: its state alone says it. */
const REASONS: Record<Reason, string | null> = {
  media: "Its media is being copied. Then the request is sent.",
  queued: null,
  simulation: "The service tries what the call would do. Then the request is sent.",
  gas_limit: "As far as one node says, no transaction has room for its gas. The service tries again within a minute.",
  fees_too_high: "Gas costs more than the operator accepts. The request goes on when fees fall.",
  low_funds: "The keys that pay for transactions cannot pay. The request goes on when the operator has funded them.",
  paused: "The operator has paused the relay. The request is sent when the relay goes on.",
  node_unavailable: "The node of the chain does not answer. The request goes on when the node does.",
  nodes_disagree: "The nodes of the chain contradict each other. The request goes on when they agree.",
  lane_stuck: "No block has contained its transaction, or one before it, for more than five minutes.",
  withdrawal: "The operator moves coins out of the wallet. The request is sent when that is final.",
  confirmations: null,
  unknown: null,
};

/** What a request waits for that goes its usual way. */
const USUAL: readonly (Reason | null)[] = [null, "queued", "simulation", "confirmations"];

/** Why it failed, or waits so that somebody must know of it, in short; null: neither. A newer service may have further words. */
export function shortReason({
  waiting_for: waits,
  error_code: code,
}: Pick<Request, "waiting_for" | "error_code">): string | null {
  return (code ?? (USUAL.includes(waits) ? null : waits))?.replaceAll("_", " ") ?? null;
}

/** The state of a request as a sentence. */
export function stateSentence({
  type,
  status,
  waiting_for: waits,
  error_message: message,
  block_number: block,
}: State) {
  // A newer service may have further words.
  const reason = waits === null ? null : (REASONS as Partial<typeof REASONS>)[waits];
  if (reason != null) return reason;
  switch (status) {
    case "pending":
      return "The request is accepted and waits. Requests that wait at the same time share one transaction.";
    case "processing":
      return block === null
        ? "The transaction was sent to the chain. It is not mined yet."
        : "The transaction is mined. The service waits for confirmations.";
    case "completed":
      return DONE[type];
    case "failed":
      return message ?? "The request failed. The service gave no reason.";
  }
}

/** Where a person can do something about a failure. */
export type Remedy = "collection" | "token" | "transaction";

const REMEDIES: Record<NonNullable<Request["error_code"]>, Remedy[]> = {
  token_already_exists: ["token", "collection"],
  insufficient_balance: ["token"],
  supply_exceeded: ["collection"],
  receiver_rejected: ["token"],
  service_cannot_mint: ["collection"],
  quota_exceeded: [],
  execution_reverted: ["transaction"],
  out_of_gas: ["transaction"],
  media_unavailable: ["collection"],
  media_too_large: ["collection"],
  media_blocked: ["collection"],
  transaction_refused: ["transaction"],
  nothing_moved: ["transaction"],
  number_taken: ["transaction"],
  ended_by_operator: [],
};

/** A newer service may have further codes. */
export function remediesOf(code: Request["error_code"]): Remedy[] {
  return code !== null && code in REMEDIES ? REMEDIES[code] : [];
}
