import type { Database } from "../store/db/database.ts";
import type { Trx } from "../store/db/engine.ts";
import { claimIdempotencyKey, findStoredAnswer, type StoredAnswer } from "../store/apps/idempotency.ts";
import { ApiError } from "../domain/error-codes.ts";
import type { Sealer } from "../keys/sealer.ts";

/** The caller's `Idempotency-Key`, and what must be equal in a repeated call. */
export interface IdempotentCall {
  key: string;
  /** Method, path and body. */
  content: string;
}

export interface IdempotencyDeps {
  database: Database;
  sealer: Sealer;
}

/** The app that calls, and its idempotency key if it sent one. */
export interface Caller {
  appId: string;
  idempotency: IdempotentCall | null;
}

/**
 * Finds the answer of an earlier equal call in committed rows. Call it before checking any rule: the first call may have
 * changed what the rules depend on.
 * @returns null when there is none.
 * @throws ApiError `idempotency_key_reused`
 */
export async function answerOfEarlierCall(deps: IdempotencyDeps, caller: Caller): Promise<string | null> {
  if (caller.idempotency === null) return null;
  const earlier = await findStoredAnswer(deps.database.read, caller.appId, caller.idempotency.key);
  return earlier === undefined ? null : replay(deps.sealer, caller.idempotency, earlier);
}

/**
 * Claims the key inside the transaction that does the work, before the work. Of concurrent equal calls one gets null and
 * continues; the others get its answer.
 * @throws ApiError `idempotency_key_reused`
 */
export async function claimKey(
  deps: IdempotencyDeps,
  trx: Trx,
  caller: Caller,
  response: string,
  now: number,
): Promise<string | null> {
  const { idempotency } = caller;
  if (idempotency === null) return null;
  const answer = { fingerprint: deps.sealer.fingerprint(idempotency.content), response };
  const earlier = await claimIdempotencyKey(trx, caller.appId, idempotency.key, answer, now);
  return earlier === null ? null : replay(deps.sealer, idempotency, earlier);
}

function replay(sealer: Sealer, call: IdempotentCall, earlier: StoredAnswer): string {
  if (!sealer.matches(call.content, earlier.fingerprint)) throw new ApiError("idempotency_key_reused");
  return earlier.response;
}
