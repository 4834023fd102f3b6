import type { Database } from "../store/db/database.ts";
import type { Trx } from "../store/db/engine.ts";
import { claimIdempotencyKey, findStoredAnswer, type StoredAnswer } from "../store/apps/idempotency.ts";
import { ApiError } from "../domain/error-codes.ts";
import type { Sealer } from "../keys/sealer.ts";

/** The caller's `Idempotency-Key`, and everything that must be the same when it comes again. */
export interface IdempotentCall {
  key: string;
  /** Method, path and body. */
  content: string;
}

export interface IdempotencyDeps {
  database: Database;
  sealer: Sealer;
}

/** Who calls, and whether the call may be repeated without a second effect. */
export interface Caller {
  appId: string;
  idempotency: IdempotentCall | null;
}

/**
 * The answer of an earlier equal call, from committed rows: looked for before any rule is checked, because the rules
 * may have changed since.
 * @throws ApiError `idempotency_key_reused`
 */
export async function answerOfEarlierCall(deps: IdempotencyDeps, caller: Caller): Promise<string | null> {
  if (caller.idempotency === null) return null;
  const earlier = await findStoredAnswer(deps.database.read, caller.appId, caller.idempotency.key);
  return earlier === undefined ? null : replay(deps.sealer, caller.idempotency, earlier);
}

/**
 * Takes the key inside the transaction that does the work, before the work: of calls that race, one gets null and goes
 * on, the others get its answer.
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
