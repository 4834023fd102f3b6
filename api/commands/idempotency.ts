import type { StoredAnswer } from "../store/apps/idempotency.ts";
import { ApiError } from "../domain/error-codes.ts";
import type { Sealer } from "../keys/sealer.ts";
import { isRawNumber } from "../../client/rules/exact-json.ts";
import type { Answer } from "./answers.ts";
import type { CommandContext } from "./context.ts";
import type { Credential } from "./credential.ts";

/** The caller's `Idempotency-Key`, and what must be equal in a repeated call. */
export interface IdempotentCall {
  key: string;
  /** Method and path. */
  endpoint: string;
  /** The body, as text and as parsed. */
  text: string;
  value: unknown;
}

/** The app that calls, and its idempotency key if it sent one. The HTTP call is one: `Call` of `v1/endpoint.ts`. */
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
export async function answerOfEarlierCall(context: CommandContext, caller: Caller): Promise<Answer | null> {
  if (caller.idempotency === null) return null;
  const [earlier] = await context.lookUps.answers([{ appId: caller.appId, key: caller.idempotency.key }]);
  return earlier === undefined ? null : replay(context.sealer, caller, earlier);
}

/** The caller's key and the fingerprint of the call, to be stored if the call is accepted; null without a key. */
export function keyOf(
  { sealer }: { sealer: Sealer },
  { idempotency }: Caller,
): { key: string; fingerprint: string } | null {
  if (idempotency === null) return null;
  const ofBytes = sealer.fingerprint(bytesOf(idempotency));
  return { key: idempotency.key, fingerprint: `${ofBytes} ${sealer.fingerprint(meaningOf(idempotency))}` };
}

/** @returns the answer of the call that came first. @throws ApiError `idempotency_key_reused`, `answer_expired` */
export function replay(sealer: Sealer, { idempotency }: Caller, earlier: StoredAnswer): Answer {
  if (idempotency === null || !isSame(sealer, idempotency, earlier)) throw new ApiError("idempotency_key_reused");
  if (earlier.response === "") throw new ApiError("answer_expired");
  return { json: earlier.response, retryAfter: null, results: [], replayed: true };
}

/** Whether two calls have the same bytes, or mean the same. Keys of versions before 0.4.0 have no fingerprint of the meaning. */
function isSame(sealer: Sealer, call: IdempotentCall, { fingerprint }: StoredAnswer): boolean {
  const [ofBytes = "", ofMeaning] = fingerprint.split(" ");
  if (sealer.matches(bytesOf(call), ofBytes)) return true;
  return ofMeaning !== undefined && sealer.matches(meaningOf(call), ofMeaning);
}

function bytesOf({ endpoint, text }: IdempotentCall): string {
  return `${endpoint}\n${text}`;
}

/** The same text for all bodies that mean the same: white space, the order of keys, and fields that are null or an empty text do not count. */
function meaningOf({ endpoint, value }: IdempotentCall): string {
  return `${endpoint}\n${JSON.stringify(withoutEmpty(value), inOrder)}`;
}

/** null and an empty text count as left out in the fields of a call and of a batch's items, not within their values. */
function withoutEmpty(value: unknown): unknown {
  if (!isObject(value)) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== null && field !== "");
  const isBatch = Array.isArray(value["items"]);
  return Object.fromEntries(
    fields.map(([name, field]) => [name, isBatch && Array.isArray(field) ? field.map(withoutEmpty) : field]),
  );
}

/** Replaces an object by one with the same properties in the order of their names. */
function inOrder(_key: string, value: unknown): unknown {
  if (!isObject(value) || isRawNumber(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
