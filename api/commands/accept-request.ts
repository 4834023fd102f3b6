import { BATCH_ERRORS_LENGTH, MAX_BATCH_ITEM_ERRORS, MAX_METADATA_BYTES } from "../config/limits.ts";
import type { Command } from "../domain/command.ts";
import { secondsOfDayLeft } from "../domain/day.ts";
import { ApiError } from "../domain/error-codes.ts";
import type { RequestType } from "../domain/request.ts";
import { UPLOAD_INSTEAD } from "../../client/rules/media.ts";
import type { Warning } from "../../client/rules/warnings.ts";
import { crashPoint } from "../shared/crash-point.ts";
import type { Metrics } from "../shared/metrics.ts";
import { orderedId } from "../shared/ids.ts";
import type { Database } from "../store/db/database.ts";
import type { Trx } from "../store/db/sql.ts";
import type { ReservationRefusal } from "../store/requests/reservation-set.ts";
import type { Candidate, Decision, Prepare } from "./accept-group.ts";
import type { AcceptQueue } from "./accept-queue.ts";
import type { NewWallet } from "./create-wallet.ts";
import { answerOfEarlierCall, type Caller, type IdempotencyDeps, keyOf, replay } from "./idempotency.ts";
import { overQuota } from "./over-quota.ts";
import { refuseRelay } from "./refuse-relay.ts";
import type { BacklogRefusal } from "./request-quotas.ts";

/** `Retry-After` in seconds when the backlog has no room. */
const RETRY_WHEN_FULL = 30;

const BACKLOG_MESSAGES: Record<BacklogRefusal, string> = {
  backlog_full: "Too many requests of all apps are waiting. Try again after the number of seconds in `Retry-After`.",
  backlog_share_used:
    "Room for waiting requests is short, and this app already uses its share. Try again after the number of seconds in `Retry-After`.",
  media_backlog_full:
    "Too many requests of this app wait for their media. Try again after the number of seconds in `Retry-After`.",
};

const GAS_MESSAGE =
  "The app has spent its gas budget for today. `Retry-After` has the seconds until the next day begins.";

export interface AcceptDeps extends IdempotencyDeps {
  database: Database;
  accepting: AcceptQueue;
  /** Address of the relay, which can be neither a destination nor an owner. */
  relay: string;
  /** Notified when a request can be claimed. */
  signals: { requests: { notify(): void } };
  metrics: Pick<Metrics, "requests">;
}

/** A command whose rules are checked, ready to be stored. */
export interface Acceptance {
  /** Id of the new request; a new one if absent. */
  id?: string;
  type: RequestType;
  command: Command;
  /** The app's own text for the request. */
  reference?: string | undefined;
  /** Encrypted. */
  unlockable?: string | null;
  collection?: string | null;
  tokenId?: string | null;
  /** Whether content must be copied before the request may be sent. */
  waitsForMedia?: boolean;
  /** The wallet of a user who has none yet. It is created with the request. */
  newWallet?: NewWallet | undefined;
  /** What the call probably does not do as it was meant. The answer tells it. */
  warnings?: Warning[];
  /** The error for a reservation that is refused. */
  refusal?: (code: ReservationRefusal) => ApiError;
}

/** An item of a call: accepted so far, or its error. */
export type Checked<T> = T | ApiError;

export function isError(item: unknown): item is ApiError {
  return item instanceof ApiError;
}

/** @returns the result, or the error that the item is answered with. */
export function checked<T>(check: () => T): Checked<T> {
  try {
    return check();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/**
 * Stores the requests of a call with their reservations and its idempotency key, in one commit. The items are decided in
 * their order.
 * @param prepare extra changes, made in the same transaction.
 * @returns the answer; for a repeated call, the answer of the first one.
 * @throws ApiError `idempotency_key_reused`, `answer_expired`, and what the form of the answer throws
 */
export async function acceptItems(
  deps: AcceptDeps,
  caller: Caller,
  call: { items: readonly Checked<Acceptance>[]; form: AnswerForm; prepare?: Prepare | undefined },
): Promise<Answer> {
  const items = call.items.map((item) =>
    item instanceof ApiError ? item : checked(() => candidateOf(deps, caller, item)),
  );
  const candidates = items.flatMap((item) => (item instanceof ApiError ? [] : item));
  const resultsOf = (decisions: readonly Decision[]): Result[] => {
    const next = decisions.values();
    return items.map((item) => (item instanceof ApiError ? item : resultOf(item, next.next().value)));
  };
  if (candidates.length === 0) {
    // The first call with this key may have committed since the look-up before the rules.
    const earlier = await answerOfEarlierCall(deps, caller);
    return earlier === null ? answerOf(call.form, resultsOf([])) : { json: earlier, retryAfter: null };
  }
  const decision = await deps.accepting.accept(
    {
      appId: caller.appId,
      credential: caller.credential,
      items: candidates.map(({ candidate }) => candidate),
      key: keyOf(deps, caller),
      answer: (decisions) => call.form(resultsOf(decisions)),
    },
    call.prepare,
  );
  crashPoint("request:committed");
  switch (decision.kind) {
    case "decided":
      announce(
        deps,
        candidates.filter((_item, index) => decision.items[index]?.kind === "accepted"),
      );
      return answerOf(call.form, resultsOf(decision.items));
    case "repeated":
      return { json: replay(deps.sealer, caller, decision.answer), retryAfter: null };
    case "unauthorized":
      throw new ApiError("unauthorized");
  }
}

/**
 * Stores a request with its reservations and its idempotency key, all or nothing.
 * @param prepare extra changes, made in the same transaction. If this throws, or the call is refused, they are rolled back.
 * @returns the JSON text of the answer; for a repeated call, the answer of the first one.
 * @throws ApiError `quota_exceeded`, `unavailable`, `idempotency_key_reused`, and the command's refusals
 */
export async function acceptRequest(
  deps: AcceptDeps,
  caller: Caller,
  acceptance: Acceptance,
  prepare?: (trx: Trx) => Promise<void>,
): Promise<string> {
  const call = { items: [acceptance], form: singleAnswer };
  if (prepare === undefined) return (await acceptItems(deps, caller, call)).json;
  const prepareAll = async (trx: Trx) => {
    await prepare(trx);
    return new Map<string, ApiError>();
  };
  return (await acceptItems(deps, caller, { ...call, prepare: prepareAll })).json;
}

interface Item {
  candidate: Candidate;
  acceptance: Acceptance;
}

function candidateOf(deps: AcceptDeps, { appId }: Caller, acceptance: Acceptance): Item {
  refuseRelay(deps.relay, acceptance.command);
  if ("metadata" in acceptance.command && acceptance.command.metadata !== null) {
    refuseLargeMetadata(acceptance.command.metadata);
  }
  const candidate = {
    id: acceptance.id ?? orderedId(),
    appId,
    type: acceptance.type,
    command: acceptance.command,
    reference: acceptance.reference ?? null,
    unlockable: acceptance.unlockable ?? null,
    collection: acceptance.collection ?? null,
    tokenId: acceptance.tokenId ?? null,
    waitsForMedia: acceptance.waitsForMedia === true,
    newWallet: acceptance.newWallet,
  };
  return { candidate, acceptance };
}

/** After the commit: wakes the relayer up, and counts. */
function announce(deps: AcceptDeps, accepted: readonly Item[]): void {
  if (accepted.length === 0) return;
  deps.signals.requests.notify();
  deps.metrics.requests(
    accepted.map(({ candidate: { id, type } }) => ({ id, type, status: "pending", errorCode: null, seconds: 0 })),
  );
}

function resultOf({ candidate, acceptance }: Item, decision: Decision | undefined): Result {
  switch (decision?.kind) {
    case "accepted":
      return { request_id: candidate.id, ...warningsIn(acceptance.warnings) };
    case "over-quota":
      return overQuota(decision.quota);
    case "refused":
      return errorOf(decision.code, acceptance);
    case "failed":
      return decision.error;
    case undefined:
      throw new Error("an item has no decision");
  }
}

function errorOf(code: Extract<Decision, { kind: "refused" }>["code"], { refusal }: Acceptance): ApiError {
  if (isBacklogRefusal(code)) {
    return new ApiError("unavailable", null, { retryAfter: RETRY_WHEN_FULL, message: BACKLOG_MESSAGES[code] });
  }
  if (code === "quota_exceeded") {
    return new ApiError(code, null, { retryAfter: secondsOfDayLeft(Date.now()), message: GAS_MESSAGE });
  }
  if (refusal === undefined) throw new Error(`a request that reserves nothing was refused: ${code}`);
  return refusal(code);
}

function isBacklogRefusal(code: string): code is BacklogRefusal {
  return code in BACKLOG_MESSAGES;
}

/** The answer to an accepted item. */
interface Accepted {
  request_id: string;
  /** Absent when there are none. */
  warnings?: Warning[];
}

/** The field of an answer, which is absent when there are no warnings. */
export function warningsIn(warnings: Warning[] = []): { warnings?: Warning[] } {
  return warnings.length === 0 ? {} : { warnings };
}

/** What an item is answered with: its request, or its error. */
type Result = Accepted | ApiError;

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
  return JSON.stringify(result);
};

/**
 * For a batch: each item has its own result.
 * @throws ApiError `unavailable` if no item was accepted and one of them is `unavailable`. The first call with the same key may
 * still be accepted, so the caller must repeat the call with this key, not with a new one.
 */
export const batchAnswer: AnswerForm = (results) => {
  if (results.every((result) => result instanceof ApiError) && results.some(isUnavailable)) {
    const retryAfter = longestWait(results);
    throw new ApiError("unavailable", null, { message: NONE_ACCEPTED, ...(retryAfter === null ? {} : { retryAfter }) });
  }
  let length = 0;
  const bodies = results.map((result) => {
    if (result instanceof ApiError) return result.body;
    const warnings = result.warnings?.slice(0, length > BATCH_ERRORS_LENGTH ? 1 : MAX_BATCH_ITEM_ERRORS);
    length += warnings === undefined ? 0 : JSON.stringify(warnings).length;
    return { ...result, ...warningsIn(warnings) };
  });
  return JSON.stringify({ results: bodies });
};

const NONE_ACCEPTED =
  "No item was accepted, and at least one cannot be handled now. Repeat the call with the same `Idempotency-Key` after the number of seconds in `Retry-After`.";

function isUnavailable(result: Result): boolean {
  return result instanceof ApiError && result.errorCode === "unavailable";
}

function answerOf(form: AnswerForm, results: readonly Result[]): Answer {
  return { json: form(results), retryAfter: longestWait(results) };
}

/** Seconds; null when no item has to wait. */
function longestWait(results: readonly Result[]): number | null {
  const waits = results.flatMap((result) => (result instanceof ApiError ? (result.retryAfter ?? []) : []));
  return waits.length === 0 ? null : Math.max(...waits);
}

/**
 * Refuses metadata that is larger than the limit, unless it is not larger than what is stored: an older version may have stored more.
 * @param stored the metadata that it replaces.
 * @throws ApiError `validation_failed`, naming the largest field
 */
export function refuseLargeMetadata(metadata: object, stored: object = {}): void {
  const bytes = sizeOf(metadata);
  if (bytes <= MAX_METADATA_BYTES || bytes <= sizeOf(stored)) return;
  const largest = Object.entries(metadata)
    .map(([field, value]) => ({ field, bytes: sizeOf(value) }))
    .reduce((one, other) => (other.bytes > one.bytes ? other : one));
  const hint = /^data:/i.test(String(Reflect.get(metadata, largest.field))) ? ` ${UPLOAD_INSTEAD}` : "";
  const message = `The metadata has ${bytes.toString()} bytes as JSON, and ${MAX_METADATA_BYTES.toString()} are allowed. This field is the largest, with ${largest.bytes.toString()}.${hint}`;
  throw new ApiError("validation_failed", [{ field: largest.field, code: "too_long", message }]);
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
