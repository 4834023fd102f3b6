import type { Command } from "../domain/command.ts";
import { estimateGas } from "../domain/gas-estimate.ts";
import type { RequestType } from "../domain/request.ts";
import { holdApps } from "../store/apps/apps.ts";
import {
  answerKey,
  findStoredAnswers,
  insertAnswers,
  type NewAnswer,
  type StoredAnswer,
} from "../store/apps/idempotency.ts";
import type { Trx } from "../store/db/engine.ts";
import { insertMediaJobs } from "../store/media/media-jobs.ts";
import { GasBudgets } from "../store/requests/gas-usage.ts";
import { insertRequests, type NewRequest } from "../store/requests/requests.ts";
import { type ReservationRefusal, ReservationSet, type ReservingCommand } from "../store/requests/reservation-set.ts";
import { Backlog, type BacklogLimits, type BacklogRefusal } from "./backlog.ts";

/** A call that has passed every check that does not depend on other calls. */
export interface Candidate {
  id: string;
  appId: string;
  type: RequestType;
  command: Command;
  /** Encrypted. */
  unlockable: string | null;
  collection: string | null;
  tokenId: string | null;
  /** Whether content must be copied before the request may be sent. */
  waitsForMedia: boolean;
  /** The answer to store under the caller's idempotency key; null without a key. */
  answer: NewAnswer | null;
}

export type Decision =
  | { kind: "accepted" }
  /** An earlier call used the same idempotency key. */
  | { kind: "repeated"; answer: StoredAnswer }
  | { kind: "refused"; code: ReservationRefusal | BacklogRefusal | "quota_exceeded" }
  /** The app was removed after the call's token was looked up. */
  | { kind: "removed" };

export interface AcceptLimits extends BacklogLimits {
  /** Gas that one app may use per day; null: unlimited. */
  appGasPerDay: number | null;
}

/**
 * Decides a group of calls in their order. Stores the accepted ones with their reservations and idempotency keys. The
 * number of SQL statements does not depend on the size of the group.
 */
export async function acceptGroup(
  trx: Trx,
  candidates: readonly Candidate[],
  limits: AcceptLimits,
  now: number,
): Promise<Decision[]> {
  const group = await Group.read(trx, candidates, limits, now);
  const decisions = candidates.map((candidate) => group.decide(candidate));
  await group.store(trx);
  return decisions;
}

class Group {
  readonly #now: number;
  #backlog!: Backlog;
  #apps: ReadonlySet<string> = new Set();
  #answers = new Map<string, StoredAnswer>();
  #reservations!: ReservationSet;
  #budgets: GasBudgets | null = null;
  readonly #accepted: NewRequest[] = [];
  readonly #newAnswers: NewAnswer[] = [];

  private constructor(now: number) {
    this.#now = now;
  }

  static async read(trx: Trx, candidates: readonly Candidate[], limits: AcceptLimits, now: number): Promise<Group> {
    const group = new Group(now);
    const apps = new Set(candidates.map(({ appId }) => appId));
    group.#apps = await holdApps(trx, apps);
    group.#backlog = await Backlog.read(trx, apps, limits);
    group.#reservations = await ReservationSet.read(
      trx,
      candidates.flatMap(({ command }) => (reserves(command) ? [command] : [])),
    );
    if (limits.appGasPerDay !== null) {
      group.#budgets = await GasBudgets.read(trx, apps, limits.appGasPerDay, now);
    }
    // After the locks: what a call waited for may be the first call with its key, which used up what it wants.
    group.#answers = await findStoredAnswers(
      trx,
      candidates.flatMap(({ answer }) => answer ?? []),
    );
    return group;
  }

  decide(candidate: Candidate): Decision {
    const { answer, appId, command, waitsForMedia } = candidate;
    if (!this.#apps.has(appId)) return { kind: "removed" };
    const earlier = answer === null ? undefined : this.#answers.get(answerKey(appId, answer.key));
    if (earlier !== undefined) return { kind: "repeated", answer: earlier };
    // While the chain is unavailable, requests wait. The limit keeps the backlog small enough to process later.
    const full = this.#backlog.refusalOf(appId, waitsForMedia);
    if (full !== null) return { kind: "refused", code: full };
    const gas = this.#budgets === null ? undefined : this.#budgets.charge(appId, estimateGas(command));
    if (gas === null) return { kind: "refused", code: "quota_exceeded" };
    const reserved = reserves(command) ? this.#reservations.take(candidate.id, command) : "ok";
    if (reserved !== "ok") {
      if (gas !== undefined) this.#budgets?.refund(appId, gas);
      return { kind: "refused", code: reserved };
    }
    this.#backlog.add(appId, waitsForMedia);
    const { id, type, unlockable, collection, tokenId, waitsForMedia: waits } = candidate;
    const now = this.#now;
    this.#accepted.push({ id, appId, type, command, unlockable, collection, tokenId, waits, gas: gas ?? null, now });
    if (answer !== null) {
      this.#answers.set(answerKey(appId, answer.key), answer);
      this.#newAnswers.push(answer);
    }
    return { kind: "accepted" };
  }

  async store(trx: Trx): Promise<void> {
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
      return true;
    default:
      return false;
  }
}
