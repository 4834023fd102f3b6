/**
 * What a node said when it was handed a signed transaction. No answer proves that the transaction did not reach the network: it
 * decides only when the service tries again, what it tries, and what it reports. Which transaction was mined is read from blocks.
 */
export const BROADCAST_ANSWERS = [
  /** The node took the transaction, or already has these signed bytes. */
  "accepted",
  /** The nonce is used: by these bytes, by another version, or by another sender. Only blocks show which. */
  "nonce-used",
  /** The fee is below what the node accepts now. */
  "underpriced",
  /** The lane has too little funds. */
  "no-funds",
  /** The node has no room for it now, or is not in sync. */
  "busy",
  /** The gas limit is below what a transaction with these calls costs at least. */
  "gas-too-low",
  /** The gas limit is above what a block, or a transaction, may have. */
  "gas-too-high",
  /** The node will not accept these bytes later either. */
  "refused",
  /** The node answered with an error that is not listed here. */
  "unknown",
  /** The node did not answer. */
  "no-answer",
] as const;
export type BroadcastAnswer = (typeof BROADCAST_ANSWERS)[number];

/** The answers that waiting does not cure. */
export type Refusal = Extract<BroadcastAnswer, "gas-too-low" | "gas-too-high" | "refused">;

export function isRefusal(answer: BroadcastAnswer | null): answer is Refusal {
  return answer === "gas-too-low" || answer === "gas-too-high" || answer === "refused";
}

/**
 * Why a transaction cannot get into a block: no attempt was ever accepted, and the node refused each.
 * @param answers the last answer to each attempt that is not empty.
 * @returns `refused`: for reasons that waiting does not cure. `unknown`: some of the errors are not known. null: it may be for
 * another reason.
 */
export function verdictOf(answers: readonly (BroadcastAnswer | null)[]): "refused" | "unknown" | null {
  if (answers.length === 0) return null;
  if (answers.every((answer) => isRefusal(answer))) return "refused";
  return answers.every((answer) => isRefusal(answer) || answer === "unknown") ? "unknown" : null;
}
