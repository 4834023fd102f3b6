import { BATCH_ERRORS_LENGTH, MAX_BATCH_ITEM_ERRORS } from "../config/limits.ts";
import { ApiError } from "../domain/error-codes.ts";
import type { Warning } from "../../client/rules/warnings.ts";
import type { NewWallet } from "../store/apps/wallets.ts";
import type { Item } from "./accept.ts";
import { isError, type OrError } from "./or-error.ts";

/** The answer to a call whose items were accepted, all or some of them. */
export interface Answer {
  json: string;
  /** Seconds after which the items that were refused for lack of room may be sent again; null when there are none. */
  retryAfter: number | null;
  /** Each item, if it was accepted, or its error. Empty if it is replayed. */
  results: readonly OrError<Item>[];
  /** Whether it is the answer of an earlier call with the same key. */
  replayed: boolean;
}

/**
 * The answer to a call.
 * @param results each item, or its error.
 * @param isBatch whether each item has a result of its own. Otherwise the call has one item, and its error is that of the call.
 * @returns an error when nothing is accepted and the call itself is refused.
 */
export function answerOf(results: readonly OrError<Item>[], isBatch: boolean): OrError<Answer> {
  if (isBatch) return batchAnswer(results);
  const [result] = results;
  if (result === undefined || results.length > 1) throw new Error("a single call has one item");
  if (isError(result)) return result;
  return { json: JSON.stringify(acceptedBody(result, result.warnings)), retryAfter: null, results, replayed: false };
}

/** The answer to a call that creates a wallet. */
export function walletAnswer({ address, userIdentifier }: NewWallet): Answer {
  const json = JSON.stringify({ address, user_identifier: userIdentifier, watch_only: false });
  return { json, retryAfter: null, results: [], replayed: false };
}

const NONE_ACCEPTED =
  "No item was accepted, and at least one cannot be handled now. Repeat the call with the same `Idempotency-Key` after the number of seconds in `Retry-After`.";

/**
 * The call fails if no item was accepted and one of them is `unavailable`. The first call with the same key may still be
 * accepted, so the caller must repeat the call with this key, not with a new one.
 */
function batchAnswer(results: readonly OrError<Item>[]): OrError<Answer> {
  const waits = results.flatMap((result) => (isError(result) ? (result.retryAfter ?? []) : []));
  const retryAfter = waits.length === 0 ? null : Math.max(...waits);
  if (results.every(isError) && results.some((one) => isError(one) && one.errorCode === "unavailable")) {
    return new ApiError("unavailable", null, {
      message: NONE_ACCEPTED,
      ...(retryAfter === null ? {} : { retryAfter }),
    });
  }
  let length = 0;
  const bodies = results.map((result) => {
    if (isError(result)) return result.body;
    const warnings = result.warnings?.slice(0, length > BATCH_ERRORS_LENGTH ? 1 : MAX_BATCH_ITEM_ERRORS);
    length += warnings === undefined ? 0 : JSON.stringify(warnings).length;
    return acceptedBody(result, warnings);
  });
  return { json: JSON.stringify({ results: bodies }), retryAfter, results, replayed: false };
}

function acceptedBody({ id }: Item, warnings: Warning[] | undefined) {
  return { request_id: id, ...warningsIn(warnings) };
}

/** The field of an answer, which is absent when there are no warnings. */
export function warningsIn(warnings: Warning[] = []): { warnings?: Warning[] } {
  return warnings.length === 0 ? {} : { warnings };
}
