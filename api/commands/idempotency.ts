import type { Credential } from "./credential.ts";
import type { NewAnswer, StoredAnswer } from "../store/apps/idempotency.ts";
import { ApiError } from "../domain/error-codes.ts";
import type { Sealer } from "../keys/sealer.ts";
import type { LookUps } from "./look-ups.ts";

/** The caller's `Idempotency-Key`, and what must be equal in a repeated call. */
export interface IdempotentCall {
  key: string;
  /** Method, path and body. */
  content: string;
}

export interface IdempotencyDeps {
  lookUps: LookUps;
  sealer: Sealer;
}

/** The app that calls, and its idempotency key if it sent one. */
export interface Caller {
  appId: string;
  /** Null: the call is to a public endpoint. */
  credential: Credential | null;
  idempotency: IdempotentCall | null;
}

/**
 * Finds the answer of an earlier equal call in committed rows. Call it before checking any rule: the first call may have
 * changed what the rules depend on.
 * @returns null when there is none.
 * @throws ApiError `idempotency_key_reused`, `answer_expired`
 */
export async function answerOfEarlierCall(deps: IdempotencyDeps, caller: Caller): Promise<string | null> {
  if (caller.idempotency === null) return null;
  const earlier = await deps.lookUps.answer(caller.appId, caller.idempotency.key);
  return earlier === undefined ? null : replay(deps.sealer, caller, earlier);
}

/** The caller's key and the fingerprint of the call, to be stored if the call is accepted; null without a key. */
export function keyOf(
  deps: Pick<IdempotencyDeps, "sealer">,
  { idempotency }: Caller,
): { key: string; fingerprint: string } | null {
  if (idempotency === null) return null;
  return { key: idempotency.key, fingerprint: deps.sealer.fingerprint(idempotency.content) };
}

/** The answer to store under the caller's key if the call is accepted; null without a key. */
export function newAnswerOf(deps: Pick<IdempotencyDeps, "sealer">, caller: Caller, response: string): NewAnswer | null {
  const stored = keyOf(deps, caller);
  return stored === null ? null : { appId: caller.appId, ...stored, response };
}

/** @returns the answer of the call that came first. @throws ApiError `idempotency_key_reused`, `answer_expired` */
export function replay(sealer: Sealer, { idempotency }: Caller, earlier: StoredAnswer): string {
  if (idempotency === null || !sealer.matches(idempotency.content, earlier.fingerprint)) {
    throw new ApiError("idempotency_key_reused");
  }
  if (earlier.response === "") throw new ApiError("answer_expired");
  return earlier.response;
}
