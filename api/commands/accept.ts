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
import type { Database } from "../store/db/database.ts";
import type { Trx } from "../store/db/sql.ts";
import { insertMediaJobs } from "../store/media/media-jobs.ts";
import { GasBudgets, type GasCharge } from "../store/requests/gas-usage.ts";
import { insertRequests, type NewRequest } from "../store/requests/requests.ts";
import { ReservationSet } from "../store/requests/reservation-set.ts";
import { type Answer, answerOf, walletAnswer } from "./answers.ts";
import { AppQuotas, type QuotaNeeds, quotaNeedsOf } from "./app-quotas.ts";
import { Backlog, type BacklogLimits } from "./backlog.ts";
import type { CommandContext } from "./context.ts";
import { NewWallets } from "./create-wallet.ts";
import { validCredentials } from "./credential.ts";
import { answerOfEarlierCall, type Caller, keyOf, replay } from "./idempotency.ts";
import { isError, orError, type OrError, unlessError, withoutErrors } from "./or-error.ts";
import { refuseRelay } from "./refuse-relay.ts";
import { reservationError } from "./reservation-errors.ts";

/** An element of a call that its own rules accept. When the call is accepted, it becomes a request. */
export interface Item extends Omit<NewRequest, "gas" | "now"> {
  /** The wallet of a user who had none when the call was checked. It is created with the request. */
  newWallet?: NewWallet | undefined;
  /** What the item probably does not do as it was meant. The answer tells it. */
  warnings?: Warning[] | undefined;
}

/**
 * Changes other rows in the transaction that accepts the items, after the apps are held and before anything else is read.
 * @param ids the items that are decided.
 * @returns the errors of the items that it refuses, for which it has changed nothing.
 */
export type Changes = (trx: Trx, ids: ReadonlySet<string>) => Promise<ReadonlyMap<string, ApiError>>;

/** A call that is checked and waits for its transaction. */
export interface Call {
  caller: Caller;
  /** The caller's idempotency key; null without one. */
  key: { key: string; fingerprint: string } | null;
  items: readonly OrError<Item>[];
  isBatch: boolean;
  /** Such a call has a transaction of its own. */
  changes: Changes | null;
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
  check: () => Promise<{ items: readonly OrError<Item>[]; changes?: Changes | undefined }>,
  isBatch = false,
): Promise<Answer> {
  const earlier = await answerOfEarlierCall(context, caller);
  if (earlier !== null) return earlier;
  const { changes = null, ...checked } = await check();
  const items = checked.items.map((item) => (isError(item) ? item : orError(() => allowed(item, context.relay))));
  if (items.every(isError)) {
    // The first call with this key may have been accepted since, and may be why the rules refuse this one.
    return (await answerOfEarlierCall(context, caller)) ?? unlessError(answerOf(items, isBatch));
  }
  // In one transaction with the other calls of this moment: `acceptGroup`.
  const answer = await context.accepting.add({ caller, key: keyOf(context, caller), items, isBatch, changes });
  crashPoint("request:committed");
  wakeWorkers(context, withoutErrors(answer.outcomes));
  return answer;
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
  calls: readonly Call[],
  rules: AcceptRules,
  now: number,
): Promise<OrError<Answer>[]> {
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
  const refused = await applyChanges(trx, calls);
  const left: Left = {
    quotas,
    wallets: await NewWallets.read(trx, [...created, ...items.flatMap(({ newWallet }) => newWallet ?? [])]),
    backlog: await Backlog.read(trx, appIds, rules),
    reservations: await readReservations(trx, items),
    budgets: await GasBudgets.read(trx, appIds, rules.appGasPerDay, now),
  };
  // After the locks: the first call with the same key may have held them, and may have used up what this call wants.
  const keys = calls.flatMap(({ caller: { appId }, key }) => (key === null ? [] : [{ appId, key: key.key }]));
  const answers = await findStoredAnswers(trx, keys);

  const requests: NewRequest[] = [];
  const newAnswers: NewAnswer[] = [];
  const decided = calls.map((call): OrError<Answer> => {
    const { caller, key, wallet, isBatch } = call;
    const { appId, credential } = caller;
    if (!apps.has(appId) || (credential !== null && !valid.has(credential.hash))) return new ApiError("unauthorized");
    const earlier = key === null ? undefined : answers.get(answerKey(appId, key.key));
    if (earlier !== undefined) return orError(() => replay(rules.sealer, caller, earlier));
    const outcomes = call.items.map((item) => {
      if (isError(item)) return item;
      const gas = refused.get(item.id) ?? takeFor(item, needs.get(item) ?? {}, left);
      if (isError(gas)) return gas;
      requests.push({ ...item, gas, now });
      return item;
    });
    const answer =
      wallet === undefined
        ? answerOf(outcomes, isBatch)
        : (left.wallets.create(wallet, quotas) ?? walletAnswer(wallet));
    if (key !== null && !isError(answer) && (wallet !== undefined || !outcomes.every(isError))) {
      const stored = { appId, ...key, response: answer.json };
      answers.set(answerKey(appId, key.key), stored);
      newAnswers.push(stored);
    }
    return answer;
  });
  await storeAccepted(trx, left, requests, now);
  await insertAnswers(trx, newAnswers, now);
  crashPoint("request:written");
  return decided;
}

function readReservations(trx: Trx, items: readonly Item[]): Promise<ReservationSet> {
  return ReservationSet.read(
    trx,
    items.map(({ command }) => command),
  );
}

async function storeAccepted(trx: Trx, left: Left, requests: readonly NewRequest[], now: number): Promise<void> {
  await left.wallets.store(trx, now);
  await insertRequests(trx, requests);
  await left.reservations.store(trx);
  await left.budgets.store(trx);
  await insertMediaJobs(
    trx,
    requests.filter(({ waitsForMedia }) => waitsForMedia === true),
  );
}

/** What is left for the items of a group. */
interface Left {
  backlog: Backlog;
  quotas: AppQuotas;
  budgets: GasBudgets;
  reservations: ReservationSet;
  wallets: NewWallets;
}

/** Takes what the item needs. @returns its charge of the gas budget, or its error: nothing is taken then. */
function takeFor(item: Item, needed: QuotaNeeds, left: Left): OrError<GasCharge | null> {
  const { id, appId, command, newWallet } = item;
  const { backlog, quotas, budgets, reservations, wallets } = left;
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
  return gas;
}

function gasSpent(): ApiError {
  const message =
    "The app has spent its gas budget for today. `Retry-After` has the seconds until the next day begins.";
  return new ApiError("quota_exceeded", null, { retryAfter: secondsOfDayLeft(Date.now()), message });
}

/** Only a call that is decided alone has changes. */
async function applyChanges(trx: Trx, calls: readonly Call[]): Promise<ReadonlyMap<string, ApiError>> {
  for (const { changes, items } of calls) {
    const ids = new Set(items.flatMap((item) => (isError(item) ? [] : item.id)));
    if (changes !== null && ids.size > 0) return changes(trx, ids);
  }
  return new Map();
}

/** Rounds in which a call with changes is decided. In the last one, what the changes refuse stays refused. */
const ROUNDS = 5;

/**
 * Decides a call with changes, in a transaction of its own. What it changed for an item that is refused is rolled back, and the
 * other items are decided again without it: they do not depend on it.
 * @param write begins the transaction.
 * @throws ApiError if nothing is accepted and the call itself is refused
 */
export async function acceptWithChanges(
  write: Database["write"],
  call: Call & { changes: Changes },
  rules: AcceptRules,
): Promise<Answer> {
  let { items } = call;
  for (let round = 1; ; round++) {
    /** The errors of the changes. They have changed nothing for these items. */
    let refused = new Set<OrError<Item>>();
    const changes: Changes = async (trx, ids) => {
      const errors = await call.changes(trx, ids);
      refused = new Set(errors.values());
      return errors;
    };
    try {
      return await write(async (trx) => {
        const [answer] = await acceptGroup(trx, [{ ...call, items, changes }], rules, Date.now());
        if (answer === undefined) throw new Error("a call has no answer");
        const decided = unlessError(answer);
        // Nothing has to be rolled back for items that are accepted, and for those that the changes refused.
        const mayStay = new Set<OrError<Item>>([...items, ...refused]);
        if (decided.replayed || !decided.outcomes.every((one) => mayStay.has(one))) throw new RolledBack(decided);
        return decided;
      });
    } catch (error) {
      if (!(error instanceof RolledBack)) throw error;
      const { answer } = error;
      if (answer.replayed) return answer;
      // Without the refused items, the changes may have room for others.
      items = answer.outcomes.map((one, index) => (round < ROUNDS && refused.has(one) ? (items[index] ?? one) : one));
    }
  }
}

class RolledBack extends Error {
  override readonly name = "RolledBack";
  readonly answer: Answer;

  constructor(answer: Answer) {
    super("not all items of a call with changes were accepted");
    this.answer = answer;
  }
}

/** After the commit: wakes the relayer and the media role up, and counts. */
function wakeWorkers({ signals, metrics }: CommandContext, accepted: readonly Item[]): void {
  if (accepted.length === 0) return;
  signals.requests.notify();
  if (accepted.some(({ waitsForMedia }) => waitsForMedia === true)) signals.media.notify();
  metrics.requests(accepted.map(({ id, type }) => ({ id, type, status: "pending", errorCode: null, seconds: 0 })));
}

function allowed(item: Item, relay: string): Item {
  refuseRelay(relay, item.command);
  if ("metadata" in item.command && item.command.metadata !== null) refuseLargeMetadata(item.command.metadata);
  return item;
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
