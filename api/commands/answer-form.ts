import { ApiError } from "../domain/error-codes.ts";

/** What an item is answered with: the id of its request, or its error. */
export type Result = string | ApiError;

/** Writes the results of a call's items as JSON text. */
export type AnswerForm = (results: readonly Result[]) => string;

/** The answer to a call that is accepted item by item. */
export interface Answer {
  json: string;
  /** Seconds after which the items that were refused for lack of room may be sent again; null when there are none. */
  retryAfter: number | null;
}

/** For a single call, which has one item. @throws ApiError that of the item */
export const singleAnswer: AnswerForm = (results) => {
  const [result] = results;
  if (result === undefined || results.length > 1) throw new Error("a single call has one item");
  if (result instanceof ApiError) throw result;
  return JSON.stringify({ request_id: result });
};

/**
 * For a batch: each item has its own result.
 * @throws ApiError `unavailable` if no item was accepted and one of them is `unavailable`. The first call with the same key may
 * still be accepted, so the caller must repeat the call with this key, not with a new one.
 */
export const batchAnswer: AnswerForm = (results) => {
  if (!results.some((result) => typeof result === "string") && results.some(isUnavailable)) {
    const retryAfter = longestWait(results);
    throw new ApiError("unavailable", null, { message: NONE_ACCEPTED, ...(retryAfter === null ? {} : { retryAfter }) });
  }
  return JSON.stringify({
    results: results.map((result) => (result instanceof ApiError ? result.body : { request_id: result })),
  });
};

const NONE_ACCEPTED =
  "No item was accepted, and at least one cannot be handled now. Repeat the call with the same `Idempotency-Key` after the number of seconds in `Retry-After`.";

function isUnavailable(result: Result): boolean {
  return result instanceof ApiError && result.errorCode === "unavailable";
}

export function answerOf(form: AnswerForm, results: readonly Result[]): Answer {
  return { json: form(results), retryAfter: longestWait(results) };
}

/** Seconds; null when no item has to wait. */
function longestWait(results: readonly Result[]): number | null {
  const waits = results.flatMap((result) => (result instanceof ApiError ? (result.retryAfter ?? []) : []));
  return waits.length === 0 ? null : Math.max(...waits);
}
