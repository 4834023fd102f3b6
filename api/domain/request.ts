import type { FieldError, RequestFailureCode } from "./error-codes.ts";

/** The outcome of a request's call in its block. Stored beside the request until the block is final. */
export type ChainOutcome =
  | { ok: true; collection: string | null; tokenId: string | null }
  | { ok: false; errorCode: RequestFailureCode; errors: FieldError[] | null };

/** `pending` while retries are left, `failed` when none is left. */
export const DELIVERY_STATUSES = ["pending", "delivered", "failed"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/**
 * The states of a request and the legal steps between them, defined only here.
 * `pending`: accepted. `processing`: its transaction is signed and stored, and is sent from then on. `completed`, `failed`: final.
 */
export const REQUEST_STATUSES = ["pending", "processing", "completed", "failed"] as const;
export type RequestStatus = (typeof REQUEST_STATUSES)[number];

export const REQUEST_TYPES = ["collection", "mint", "transfer", "burn", "metadata", "freeze"] as const;
export type RequestType = (typeof REQUEST_TYPES)[number];

const STEPS: Record<RequestStatus, readonly RequestStatus[]> = {
  pending: ["processing", "failed"],
  processing: ["completed", "failed"],
  completed: [],
  failed: [],
};

export function isFinal(status: RequestStatus): status is "completed" | "failed" {
  return STEPS[status].length === 0;
}

/** The states from which `to` can be reached: the condition of every status update. */
export function statusesBefore(to: RequestStatus): RequestStatus[] {
  return REQUEST_STATUSES.filter((from) => STEPS[from].includes(to));
}

/** Most requests in one transaction. */
export const MAX_BATCH = 250;
