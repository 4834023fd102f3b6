import { setImmediate as nextTurn } from "node:timers/promises";

import type { Limits } from "../config/limits.ts";
import { ApiError } from "../domain/error-codes.ts";
import type { Sealer } from "../keys/sealer.ts";
import { FairQueue, FairShares } from "../shared/fair-shares.ts";
import { DatabaseUnavailable } from "../store/db/errors.ts";
import type { Database } from "../store/db/database.ts";
import { acceptGroup, type AcceptRules, type CheckedCall } from "./accept.ts";
import { acceptWithChanges } from "./accept-changes.ts";
import type { Answer } from "./answers.ts";
import { type OrError, unlessError } from "./or-error.ts";

/**
 * At most this many calls are decided together, and a group that has this many items takes no further call. Both limit how long
 * its first call waits.
 */
const MAX_GROUP = { calls: 500, items: 500 };
/** At most this many calls with changes are given to the database at a time. Other calls are decided in between. */
const ALONE_AT_ONCE = 4;
/** The part of the waiting calls that is for apps without a waiting call. */
const RESERVE = 0.2;
/** `Retry-After` in seconds when too many calls wait, or one has waited too long. */
const RETRY_AFTER = 5;

/** A call that is not decided yet. */
interface WaitingCall extends PromiseWithResolvers<OrError<Answer>> {
  call: CheckedCall;
  /** It is refused when the time is over, unless its transaction has begun by then. */
  timer: NodeJS.Timeout;
  isRefused: boolean;
}

interface AcceptSettings {
  appGasPerDay: number | null;
  limits: Pick<Limits, "backlog" | "mediaBacklog" | "waitingCalls" | "waitSeconds">;
}

/**
 * Decides calls that arrive together in one transaction. A call with changes has a transaction of its own. Create one per process
 * and database. Before a call comes here, its look-ups were made together with those of other calls (`look-ups.ts`). On SQLite,
 * the transaction shares its commit with other writes (`store/db/writes.ts`).
 *
 * The calls that wait are bounded in number and in time, and the apps take turns, so the calls of one app do not keep those of
 * the others waiting. Their bytes are bounded as bodies of calls in progress (`HeldBytes`).
 */
export class AcceptQueue {
  readonly #database: Database;
  readonly #rules: AcceptRules;
  readonly #waitSeconds: number;
  /** The places of the calls that wait or are being decided. */
  readonly #places: FairShares;
  readonly #together = new FairQueue<WaitingCall>();
  #decidesTogether = false;
  readonly #alone = new FairQueue<WaitingCall>();
  #decidesAlone = 0;

  constructor(database: Database, sealer: Sealer, { appGasPerDay, limits }: AcceptSettings) {
    this.#database = database;
    this.#rules = { appGasPerDay, backlog: limits.backlog, mediaBacklog: limits.mediaBacklog, sealer };
    this.#waitSeconds = limits.waitSeconds;
    const shared = Math.ceil(limits.waitingCalls * (1 - RESERVE));
    this.#places = new FairShares({ shared, ofApp: shared, most: limits.waitingCalls });
  }

  /**
   * Waits for the transaction that decides the call.
   * @throws ApiError when the call is refused; `unavailable` when too many calls wait, or this one has waited too long. Nothing of
   * it is stored then.
   * @throws the errors of its changes and of the database.
   */
  async decide(call: CheckedCall): Promise<Answer> {
    const { appId } = call.caller;
    if (!this.#places.take(appId)) throw tooManyWait(this.#places.has(appId));
    const queue = call.changes === undefined ? this.#together : this.#alone;
    const refuse = () => {
      waiting.isRefused = true;
      queue.remove(appId, waiting);
      waiting.reject(waitedTooLong(this.#waitSeconds));
    };
    const timer = setTimeout(refuse, this.#waitSeconds * 1_000).unref();
    const waiting: WaitingCall = { call, timer, isRefused: false, ...Promise.withResolvers<OrError<Answer>>() };
    queue.add(appId, waiting);
    void (queue === this.#alone ? this.#decideAlone() : this.#decideTogether());
    try {
      return unlessError(await waiting.promise);
    } finally {
      clearTimeout(timer);
      this.#places.release(appId);
    }
  }

  /** Decides the calls that wait, group by group. */
  async #decideTogether(): Promise<void> {
    if (this.#decidesTogether) return;
    this.#decidesTogether = true;
    // Two turns: calls that arrived together with this one, and those of the turn after it, share its commit.
    await nextTurn();
    await nextTurn();
    while (!this.#together.isEmpty) await this.#decideGroup([]);
    this.#decidesTogether = false;
  }

  /**
   * Decides calls in one transaction.
   * @param group when it is empty, it is taken when the transaction has begun: until then, further calls join, and those that wait
   * too long are refused.
   */
  async #decideGroup(group: WaitingCall[]): Promise<void> {
    try {
      const answers = await this.#database.writeGroup(async (trx) => {
        if (group.length === 0) group = this.#takeGroup();
        for (const waiting of group) this.#begin(waiting);
        const calls = group.map(({ call }) => call);
        return calls.length === 0 ? [] : acceptGroup(trx, calls, this.#rules, Date.now());
      });
      for (const [index, answer] of answers.entries()) group[index]?.resolve(answer);
    } catch (error) {
      // The transaction could not begin.
      if (group.length === 0) group = this.#takeGroup();
      // While the database is unavailable, the calls fail together: alone, each would wait for it again, and a commit whose answer
      // was lost must not run a second time. Any other error concerns one call, and nothing of the group was stored.
      const failsAll = group.length === 1 || error instanceof DatabaseUnavailable;
      for (const waiting of group) {
        if (failsAll) waiting.reject(error);
        else await this.#decideGroup([waiting]);
      }
    }
  }

  #takeGroup(): WaitingCall[] {
    const group: WaitingCall[] = [];
    let items = 0;
    while (group.length < MAX_GROUP.calls && items < MAX_GROUP.items) {
      const waiting = this.#together.takeOne();
      if (waiting === null) break;
      group.push(waiting);
      items += waiting.call.items.length;
    }
    return group;
  }

  /** Decides the calls with changes that wait, one after the other. A few of these loops run at a time. */
  async #decideAlone(): Promise<void> {
    if (this.#decidesAlone === ALONE_AT_ONCE) return;
    this.#decidesAlone += 1;
    for (;;) {
      const waiting = this.#alone.takeOne();
      if (waiting === null) break;
      const write: Database["write"] = (operation) =>
        this.#database.write((trx) => {
          this.#begin(waiting);
          return operation(trx);
        });
      await acceptWithChanges(write, waiting.call, this.#rules).then(waiting.resolve, waiting.reject);
    }
    this.#decidesAlone -= 1;
  }

  /**
   * To be called in the transaction of a call, before anything else, at each run of it. From then on the call is answered with
   * its result, however long that takes. @throws ApiError when it has waited too long and is refused.
   */
  #begin(waiting: WaitingCall): void {
    if (waiting.isRefused) throw waitedTooLong(this.#waitSeconds);
    clearTimeout(waiting.timer);
  }
}

/** @param ofApp whether the app itself has calls that wait. */
function tooManyWait(ofApp: boolean): ApiError {
  const whose = ofApp ? "this app" : "all apps";
  const message = `Too many calls of ${whose} wait to be stored. Wait for their answers, then try again after the number of seconds in \`Retry-After\`.`;
  return new ApiError("unavailable", null, { retryAfter: RETRY_AFTER, message });
}

function waitedTooLong(seconds: number): ApiError {
  const message = `The service is busy: it could not begin to store the call within ${seconds.toString()} seconds, and stored nothing of it. Repeat the call, with the same Idempotency-Key, after the number of seconds in \`Retry-After\`.`;
  return new ApiError("unavailable", null, { retryAfter: RETRY_AFTER, message });
}
