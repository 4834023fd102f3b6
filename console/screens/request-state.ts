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

type State = Pick<Request, "type" | "status" | "error_message" | "block_number">;

/** The state of a request as a sentence. */
export function stateSentence({ type, status, error_message: message, block_number: block }: State): string {
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
