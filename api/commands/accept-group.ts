import type { Command } from "../domain/command.ts";
import type { ApiError } from "../domain/error-codes.ts";
import { estimateGas, type GasMeasurement, UNMEASURED_GAS } from "../domain/gas-estimate.ts";
import type { Quotas, UsedQuota } from "../domain/quota.ts";
import type { RequestType } from "../domain/request.ts";
import { crashPoint } from "../shared/crash-point.ts";
import { holdApps } from "../store/apps/apps.ts";
import {
  answerKey,
  findStoredAnswers,
  insertAnswers,
  type NewAnswer,
  type StoredAnswer,
} from "../store/apps/idempotency.ts";
import type { Trx } from "../store/db/sql.ts";
import { insertMediaJobs } from "../store/media/media-jobs.ts";
import { readMeasuredGas } from "../store/requests/gas-measurement.ts";
import { GasBudgets } from "../store/requests/gas-usage.ts";
import { insertRequests, type NewRequest } from "../store/requests/requests.ts";
import { type ReservationRefusal, ReservationSet, type ReservingCommand } from "../store/requests/reservation-set.ts";
import { type NewWallet, storeWallets } from "./create-wallet.ts";
import { type Credential, validCredentials } from "./credential.ts";
import { Backlog, type BacklogLimits, type BacklogRefusal, claimsOfRequest, RequestQuotas } from "./request-quotas.ts";

/** An item of a call that has passed every check that does not depend on other items and calls. */
export interface Candidate {
  id: string;
  appId: string;
  type: RequestType;
  command: Command;
  /** The app's own text for it. */
  reference?: string | null;
  /** Encrypted. */
  unlockable: string | null;
  collection: string | null;
  tokenId: string | null;
  /** Whether content must be copied before the request may be sent. */
  waitsForMedia: boolean;
  /** The wallet of a user who had none when the call was checked. It is created with the request. */
  newWallet?: NewWallet | undefined;
}

/** A call with its items: one, or those of a batch. All of them belong to the call's app. */
export interface CandidateCall {
  appId: string;
  credential: Credential | null;
  items: readonly Candidate[];
  /** The caller's idempotency key; null without one. */
  key: { key: string; fingerprint: string } | null;
  /** Writes the answer to store under the key. It is stored only if an item was accepted. */
  answer: (decisions: readonly Decision[]) => string;
}

/** What became of an item. */
export type Decision =
  | { kind: "accepted" }
  | { kind: "refused"; code: ReservationRefusal | BacklogRefusal | "quota_exceeded" }
  /** A quota of the app is used up. The daily gas budget is `refused` instead: its message has no figures. Both answer `quota_exceeded`. */
  | { kind: "over-quota"; quota: UsedQuota }
  /** `prepare` refused it. */
  | { kind: "failed"; error: ApiError };

/** What became of a call. */
export type CallDecision =
  | { kind: "decided"; items: readonly Decision[] }
  /** An earlier call used the same idempotency key. */
  | { kind: "repeated"; answer: StoredAnswer }
  /** The app was removed, or its token or session revoked, after the call was authenticated. */
  | { kind: "unauthorized" };

/**
 * Changes other rows, after the apps are held and before anything else is read.
 * @param ids the items that are decided.
 * @returns the errors of the items that it refuses, for which it has changed nothing.
 */
export type Prepare = (trx: Trx, ids: ReadonlySet<string>) => Promise<ReadonlyMap<string, ApiError>>;

export interface AcceptLimits extends BacklogLimits {
  /** Gas that one app may use per day; null: unlimited. */
  appGasPerDay: number | null;
}

/**
 * Decides a group of calls, and the items of each, in their order. Stores the accepted items with their reservations, and
 * the answers under the idempotency keys. The number of SQL statements does not depend on the size of the group.
 */
export async function acceptGroup(
  trx: Trx,
  calls: readonly CandidateCall[],
  limits: AcceptLimits,
  now: number,
  prepare?: Prepare,
): Promise<CallDecision[]> {
  const group = await Group.read(trx, calls, limits, now, prepare);
  const decisions = calls.map((call) => group.decideCall(call));
  await group.store(trx);
  crashPoint("request:written");
  return decisions;
}

class Group {
  readonly #now: number;
  #backlog!: Backlog;
  #apps: ReadonlyMap<string, Quotas> = new Map();
  #valid: ReadonlySet<string> = new Set();
  #quotas!: RequestQuotas;
  #answers = new Map<string, StoredAnswer>();
  #reservations!: ReservationSet;
  #budgets: GasBudgets | null = null;
  /** What calls cost on the chain, for the budgets. */
  #measured: GasMeasurement = UNMEASURED_GAS;
  #failed: ReadonlyMap<string, ApiError> = new Map();
  readonly #accepted: NewRequest[] = [];
  /** By address. */
  readonly #newWallets = new Map<string, NewWallet>();
  readonly #newAnswers: NewAnswer[] = [];

  private constructor(now: number) {
    this.#now = now;
  }

  static async read(
    trx: Trx,
    calls: readonly CandidateCall[],
    limits: AcceptLimits,
    now: number,
    prepare?: Prepare,
  ): Promise<Group> {
    const group = new Group(now);
    const apps = new Set(calls.map(({ appId }) => appId));
    const items = calls.flatMap((call) => call.items);
    group.#apps = await holdApps(trx, apps);
    group.#valid = await validCredentials(
      trx,
      calls.flatMap(({ credential }) => credential ?? []),
      now,
    );
    group.#quotas = await RequestQuotas.read(trx, items, group.#apps, claimsOfRequest);
    if (prepare !== undefined) group.#failed = await prepare(trx, new Set(items.map(({ id }) => id)));
    group.#backlog = await Backlog.read(trx, apps, limits);
    group.#reservations = await ReservationSet.read(
      trx,
      items.flatMap(({ command }) => (reserves(command) ? [command] : [])),
    );
    if (limits.appGasPerDay !== null) {
      group.#measured = await readMeasuredGas(trx);
      group.#budgets = await GasBudgets.read(trx, apps, limits.appGasPerDay, now);
    }
    // After the locks: the first call with the same key may have held them, and may have used up what this call wants.
    group.#answers = await findStoredAnswers(
      trx,
      calls.flatMap(({ appId, key }) => (key === null ? [] : [{ appId, key: key.key }])),
    );
    return group;
  }

  decideCall({ appId, credential, items, key, answer }: CandidateCall): CallDecision {
    if (!this.#apps.has(appId)) return { kind: "unauthorized" };
    if (credential !== null && !this.#valid.has(credential.hash)) return { kind: "unauthorized" };
    const earlier = key === null ? undefined : this.#answers.get(answerKey(appId, key.key));
    if (earlier !== undefined) return { kind: "repeated", answer: earlier };
    const decisions = items.map((item) => this.#decide(item));
    if (key !== null && decisions.some(({ kind }) => kind === "accepted")) {
      const stored = { appId, ...key, response: answer(decisions) };
      this.#answers.set(answerKey(appId, key.key), stored);
      this.#newAnswers.push(stored);
    }
    return { kind: "decided", items: decisions };
  }

  #decide(candidate: Candidate): Decision {
    const { appId, command, waitsForMedia } = candidate;
    const error = this.#failed.get(candidate.id);
    if (error !== undefined) return { kind: "failed", error };
    // While the chain is unavailable, requests wait. The limit keeps the backlog small enough to process later.
    const full = this.#backlog.refusalOf(appId, waitsForMedia);
    if (full !== null) return { kind: "refused", code: full };
    const quota = this.#quotas.refusalOf(candidate);
    if (quota !== null) return { kind: "over-quota", quota };
    const gas = this.#budgets === null ? undefined : this.#budgets.charge(appId, estimateGas(command, this.#measured));
    if (gas === null) return { kind: "refused", code: "quota_exceeded" };
    const reserved = reserves(command) ? this.#reservations.take(candidate.id, command) : "ok";
    if (reserved !== "ok") {
      if (gas !== undefined) this.#budgets?.refund(appId, gas);
      return { kind: "refused", code: reserved };
    }
    this.#backlog.add(appId, waitsForMedia);
    this.#quotas.add(candidate);
    if (candidate.newWallet !== undefined) this.#newWallets.set(candidate.newWallet.address, candidate.newWallet);
    const { id, type, reference, unlockable, collection, tokenId, waitsForMedia: waits } = candidate;
    const content = { command, reference: reference ?? null, unlockable, collection, tokenId };
    this.#accepted.push({ id, appId, type, ...content, waits, gas: gas ?? null, now: this.#now });
    return { kind: "accepted" };
  }

  async store(trx: Trx): Promise<void> {
    // In one order everywhere, so that two processes that create the same wallets do not lock each other out.
    const wallets = [...this.#newWallets.values()].sort((a, b) => (a.address < b.address ? -1 : 1));
    await storeWallets(trx, wallets, this.#now);
    await insertRequests(trx, this.#accepted);
    await this.#reservations.store(trx);
    await this.#budgets?.store(trx);
    await insertAnswers(trx, this.#newAnswers, this.#now);
    await insertMediaJobs(
      trx,
      this.#accepted.filter(({ waits }) => waits === true),
    );
  }
}

function reserves(command: Command): command is ReservingCommand {
  switch (command.kind) {
    case "mint-erc721":
    case "create-erc1155":
    case "mint-erc1155":
    case "transfer":
    case "burn":
      return true;
    default:
      return false;
  }
}
