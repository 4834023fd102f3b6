/**
 * The states of a request and the legal steps between them, defined only here.
 * `pending`: accepted. `processing`: its transaction was sent. `completed` and `failed`: final.
 */
export const REQUEST_STATUSES = ["pending", "processing", "completed", "failed"] as const;
export type RequestStatus = (typeof REQUEST_STATUSES)[number];

export const REQUEST_TYPES = ["collection", "mint", "transfer", "metadata", "freeze"] as const;
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
