import { MAX_METADATA_BYTES } from "../config/limits.ts";
import { secondsOfDayLeft } from "../domain/day.ts";
import { ApiError } from "../domain/error-codes.ts";
import { UPLOAD_INSTEAD } from "../../client/rules/media.ts";
import type { Warning } from "../../client/rules/warnings.ts";
import type { Sealer } from "../keys/sealer.ts";
import { crashPoint } from "../shared/crash-point.ts";
import { holdApps } from "../store/apps/apps.ts";
import { answerKey, findStoredAnswers, insertAnswers, type NewAnswer } from "../store/apps/idempotency.ts";
import type { NewWallet } from "../store/apps/wallets.ts";
import type { Trx } from "../store/db/sql.ts";
import { insertMediaJobs } from "../store/media/media-jobs.ts";
import { GasBudgets } from "../store/requests/gas-usage.ts";
import { insertRequests, type NewRequest } from "../store/requests/requests.ts";
import { ReservationSet } from "../store/requests/reservation-set.ts";
import type { Changes } from "./accept-changes.ts";
import { type Answer, answerOf, walletAnswer } from "./answers.ts";
import { AppQuotas, quotaNeedsOf } from "./app-quotas.ts";
import { Backlog, type BacklogLimits } from "./backlog.ts";
import type { CommandContext } from "./context.ts";
import { NewWallets, renamed } from "./create-wallet.ts";
import { validCredentials } from "./credential.ts";
import { answerOfEarlierCall, type Caller, keyOf, replay } from "./idempotency.ts";
import { isError, orError, type OrError, unlessError, withoutErrors } from "./or-error.ts";
import { destinationsOf, refuseRelay } from "./refuse-relay.ts";
import { reservationError } from "./reservation-errors.ts";

/** An element of a call that its own rules accept. When the call is accepted, it becomes a request. */
export interface Item extends Omit<NewRequest, "gas" | "now"> {
  /** The wallet of a user who had none when the call was checked. It is created with the request. */
  newWallet?: NewWallet | undefined;
  /** What the item probably does not do as it was meant. The answer tells it. */
  warnings?: Warning[] | undefined;
}

/** A call that is checked and waits for its transaction. */
export interface CheckedCall {
  caller: Caller;
  /** The caller's idempotency key; null without one. */
  key: { key: string; fingerprint: string } | null;
  items: readonly OrError<Item>[];
  isBatch: boolean;
  /** Such a call has a transaction of its own. */
  changes?: Changes | undefined;
  /** The wallet that the call creates. It has no items then. */
  wallet?: NewWallet;
}

/**
 * Accepts the items of a call: from then on each is a request, and the service does it.
 * @param check the rules of the items that depend on neither the other items nor other calls.
 * @returns the answer; for a repeated call, the same bytes as the first time.
 * @throws ApiError if nothing is accepted: that of the item, `unavailable`, `unauthorized`, `idempotency_key_reused` ...
 */
export async function accept(
  context: CommandContext,
  caller: Caller,
  check: () => Promise<Pick<CheckedCall, "items" | "changes">>,
  isBatch = false,
): Promise<Answer> {
  const earlier = await answerOfEarlierCall(context, caller);
  if (earlier !== null) return earlier;
  const { items: checked, changes } = await check();
  const items = checked.map((item) => (isError(item) ? item : orError(() => allowed(item, context.relay))));
  if (items.every(isError)) {
    // The first call with this key may have been accepted since, and may be why the rules refuse this one.
    return (await answerOfEarlierCall(context, caller)) ?? unlessError(answerOf(items, isBatch));
  }
  // In one transaction with the other calls of this moment: `acceptGroup` below.
  const answer = await context.acceptQueue.decide({ caller, key: keyOf(context, caller), items, isBatch, changes });
  crashPoint("request:committed");
  wakeWorkers(context, withoutErrors(answer.results));
  return answer;
}

function allowed(item: Item, relay: string): Item {
  refuseRelay(relay, destinationsOf(item.command));
  if ("metadata" in item.command && item.command.metadata !== null) refuseLargeMetadata(item.command.metadata);
  return item;
}

/** After the commit: wakes the relayer and the media role up, and counts. */
function wakeWorkers({ signals, metrics }: CommandContext, accepted: readonly Item[]): void {
  if (accepted.length === 0) return;
  signals.requests.notify();
  if (accepted.some(({ waitsForMedia }) => waitsForMedia === true)) signals.media.notify();
  metrics.requests(accepted.map(({ id, type }) => ({ id, type, status: "pending", errorCode: null, seconds: 0 })));
}

export interface AcceptRules extends BacklogLimits {
  /** Gas that one app may use per day; null: unlimited. */
  appGasPerDay: number | null;
  sealer: Sealer;
}

/**
 * Decides calls together, and the items of each, in their order. Stores the accepted items as requests, with what they reserve,
 * the wallets, and the answers under the idempotency keys. The number of SQL statements does not depend on how many calls there
 * are.
 * @returns the answer of each call, or its error.
 */
export async function acceptGroup(
  trx: Trx,
  calls: readonly CheckedCall[],
  rules: AcceptRules,
  now: number,
): Promise<OrError<Answer>[]> {
  const group = await lockAndRead(trx, calls, rules, now);
  const answers = calls.map((call) => decideCall(call, group));
  const { requests } = group;
  await group.wallets.store(trx, now);
  await insertRequests(trx, requests);
  await group.reservations.store(trx);
  await group.budgets.store(trx);
  await insertMediaJobs(
    trx,
    requests.filter(({ waitsForMedia }) => waitsForMedia === true),
  );
  await insertAnswers(trx, group.newAnswers, now);
  crashPoint("request:written");
  return answers;
}

/** What the calls are decided by. The decisions take from it, and add what is to be stored. */
type Group = Awaited<ReturnType<typeof lockAndRead>>;

async function lockAndRead(trx: Trx, calls: readonly CheckedCall[], rules: AcceptRules, now: number) {
  const appIds = new Set(calls.map(({ caller }) => caller.appId));
  const items = calls.flatMap((call) => withoutErrors(call.items));
  const created = calls.flatMap(({ wallet }) => wallet ?? []);
  const needs = new Map(items.map((item) => [item, quotaNeedsOf(item)]));
  // In the order in which rows are locked (`sql.ts`). The backlog and the wallets are not locked: others may add to them.
  const apps = await holdApps(trx, appIds);
  const credentials = calls.flatMap(({ caller }) => caller.credential ?? []);
  const valid = await validCredentials(trx, credentials, now);
  const ofWallets = created.map(({ appId }) => ({ appId, needs: { wallets: 1 } }));
  const ofItems = Array.from(needs, ([{ appId }, needed]) => ({ appId, needs: needed }));
  const quotas = await AppQuotas.lock(trx, apps, [...ofWallets, ...ofItems]);
  // Only a call that is decided alone has changes.
  const changes = items.length === 0 ? undefined : calls[0]?.changes;
  const refused = await changes?.(trx, new Set(items.map(({ id }) => id)));
  const wallets = await NewWallets.read(trx, [...created, ...items.flatMap(({ newWallet }) => newWallet ?? [])]);
  const backlog = await Backlog.read(trx, appIds, rules);
  const commands = items.map(({ command }) => command);
  const reservations = await ReservationSet.read(trx, commands);
  const budgets = await GasBudgets.read(trx, appIds, rules.appGasPerDay, now);
  // After the locks: the first call with the same key may have held them, and may have used up what this call wants.
  const keys = calls.flatMap(({ caller: { appId }, key }) => (key === null ? [] : [{ appId, key: key.key }]));
  const answers = await findStoredAnswers(trx, keys);
  const requests: NewRequest[] = [];
  const newAnswers: NewAnswer[] = [];
  const locked = { apps, valid, needs, quotas, refused, wallets, backlog, reservations, budgets, answers };
  return { ...locked, requests, newAnswers, sealer: rules.sealer, now };
}

/** Refuses a call that is no longer authorized, answers a repeated one as before, and decides any other one by what is left. */
function decideCall(call: CheckedCall, group: Group): OrError<Answer> {
  const { caller, key, wallet } = call;
  const { appId, credential } = caller;
  const isAuthorized = group.apps.has(appId) && (credential === null || group.valid.has(credential.hash));
  if (!isAuthorized) return new ApiError("unauthorized");
  const earlier = key === null ? undefined : group.answers.get(answerKey(appId, key.key));
  if (earlier !== undefined) return orError(() => replay(group.sealer, caller, earlier));
  const results = call.items.map((item) => (isError(item) ? item : decideItem(item, group)));
  const answer =
    wallet === undefined
      ? answerOf(results, call.isBatch)
      : (group.wallets.create(wallet, group.quotas) ?? walletAnswer(wallet));
  // If no item is accepted, the key stays free.
  if (key !== null && !isError(answer) && (wallet !== undefined || !results.every(isError))) {
    const stored = { appId, ...key, response: answer.json };
    group.answers.set(answerKey(appId, key.key), stored);
    group.newAnswers.push(stored);
  }
  return answer;
}

/** Takes what the item needs. @returns the item, or its error: nothing is taken then. */
function decideItem(item: Item, group: Group): OrError<Item> {
  const { id, appId, command, newWallet } = item;
  const { backlog, quotas, budgets, reservations, wallets } = group;
  if (newWallet !== undefined && wallets.isElsewhere(newWallet)) return renamed();
  const refusedByChanges = group.refused?.get(id);
  if (refusedByChanges !== undefined) return refusedByChanges;
  const needed = group.needs.get(item) ?? {};
  const needs = newWallet === undefined || !wallets.has(newWallet) ? needed : { ...needed, wallets: 0 };
  const gas = budgets.chargeOf(command);
  // While the chain is unavailable, requests wait. The limit keeps the backlog small enough to process later.
  const full =
    backlog.refusalOf(item) ?? quotas.refusalOf(appId, needs) ?? (budgets.fits(appId, gas) ? null : gasSpent());
  if (full !== null) return full;
  const reserved = reservations.take(id, command);
  if (reserved !== "ok") return reservationError(command, reserved);
  backlog.add(item);
  quotas.add(appId, needs);
  budgets.add(appId, gas);
  if (newWallet !== undefined) wallets.add(newWallet);
  group.requests.push({ ...item, gas, now: group.now });
  return item;
}

function gasSpent(): ApiError {
  const message =
    "The app has spent its gas budget for today. `Retry-After` has the seconds until the next day begins.";
  return new ApiError("quota_exceeded", null, { retryAfter: secondsOfDayLeft(Date.now()), message });
}

/**
 * Refuses metadata that is larger than the limit, unless the stored metadata is at least as large: an older version may have stored
 * more.
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
