import type { Limits } from "../config/limits.ts";
import { ApiError } from "../domain/error-codes.ts";
import { FairQueue, FairShares } from "../shared/fair-shares.ts";
import { DatabaseUnavailable } from "../store/db/errors.ts";
import type { Database } from "../store/db/database.ts";
import type { Trx } from "../store/db/sql.ts";
import {
  acceptGroup,
  type AcceptLimits,
  type CallDecision,
  type CandidateCall,
  type Decision,
  type Prepare,
} from "./accept-group.ts";
import type { BacklogLimits } from "./request-quotas.ts";

/** Most calls that are decided together. It limits how long the first one waits. */
const MAX_GROUP = 500;
/** Most prepared calls that are given to the database at a time. It puts them into common commits. */
const PREPARED_AT_ONCE = 100;
/** The part of the waiting calls that is for apps without a waiting call. */
const RESERVE = 0.2;
/** Rounds in which a prepared call is decided. From this round on, an item that `prepare` refused stays refused. */
const ROUNDS = 5;
/** `Retry-After` in seconds when too many calls wait, or one has waited too long. */
const RETRY_AFTER = 5;

/** A call that is not decided yet. */
interface Waiting {
  call: CandidateCall;
  prepare: Prepare | undefined;
  /** The kind whose queue holds the call until it is taken. */
  kind: Kind;
  /** When it is refused, unless its transaction has begun by then (monotonic clock, milliseconds). */
  due: number;
  state: "waiting" | "begun" | "refused";
  resolve: (decision: CallDecision) => void;
  reject: (error: unknown) => void;
}

/** Calls that are decided in the same way, with their queue and their workers. */
interface Kind {
  readonly queue: FairQueue<Waiting>;
  /** How many workers take calls from the queue at the same time. */
  readonly most: number;
  running: number;
  /** Starts a worker. */
  start: (work: () => void) => void;
  /** Decides the next calls of the queue. It does not throw. */
  decide: (queue: FairQueue<Waiting>) => Promise<void>;
}

interface AcceptSettings {
  appGasPerDay: number | null;
  limits: BacklogLimits & Pick<Limits, "waitingCalls" | "waitSeconds">;
}

/**
 * Decides calls that arrive together, in one transaction. Create one per process and database.
 *
 * The calls that wait are bounded in number and in time, and the apps take turns, so the calls of one app do not keep those of
 * the others waiting. Their bytes are bounded as bodies of calls in progress (`HeldBytes`).
 */
export class AcceptQueue {
  readonly #database: Database;
  readonly #limits: AcceptLimits;
  readonly #waitSeconds: number;
  /** The places of the calls that wait or are being decided. */
  readonly #places: FairShares;
  /** Calls whose transaction has not begun, in the order of `due`. */
  readonly #waiting = new Set<Waiting>();
  #timer: NodeJS.Timeout | null = null;
  readonly #singles: Kind;
  /** Batches are decided one by one, so that other calls are decided in between. */
  readonly #batches: Kind;
  readonly #prepared: Kind;

  constructor(database: Database, { appGasPerDay, limits }: AcceptSettings) {
    this.#database = database;
    this.#limits = { appGasPerDay, backlog: limits.backlog, mediaBacklog: limits.mediaBacklog };
    this.#waitSeconds = limits.waitSeconds;
    const shared = Math.ceil(limits.waitingCalls * (1 - RESERVE));
    this.#places = new FairShares({ shared, ofApp: shared, most: limits.waitingCalls });
    const alone = (queue: FairQueue<Waiting>) => this.#decideNext(queue);
    const atOnce = (work: () => void) => {
      work();
    };
    this.#singles = {
      queue: new FairQueue(),
      most: 1,
      running: 0,
      // Two turns: calls that arrived together with this one need the second for their look-ups. Then all share a commit.
      start: (work) => setImmediate(() => setImmediate(work)),
      decide: (queue) => this.#decideGroup(queue),
    };
    this.#batches = { queue: new FairQueue(), most: 1, running: 0, start: atOnce, decide: alone };
    this.#prepared = { queue: new FairQueue(), most: PREPARED_AT_ONCE, running: 0, start: atOnce, decide: alone };
  }

  /**
   * @param prepare extra changes, made in the same transaction before the decision. Such a call is decided alone. What it
   * changed for an item that is refused is rolled back.
   * @throws ApiError `unavailable` when too many calls wait, or this one has waited too long: nothing of it is stored.
   * @throws the errors of `prepare` and of the database.
   */
  async accept(call: CandidateCall, prepare?: Prepare): Promise<CallDecision> {
    if (!this.#places.take(call.appId)) throw tooManyWait(this.#places.has(call.appId));
    try {
      return await this.#decided(call, prepare);
    } finally {
      this.#places.release(call.appId);
    }
  }

  #decided(call: CandidateCall, prepare: Prepare | undefined): Promise<CallDecision> {
    const { promise, resolve, reject } = Promise.withResolvers<CallDecision>();
    const kind = call.items.length > 1 ? this.#batches : prepare === undefined ? this.#singles : this.#prepared;
    const due = performance.now() + this.#waitSeconds * 1_000;
    const waiting: Waiting = { call, prepare, kind, due, state: "waiting", resolve, reject };
    this.#waiting.add(waiting);
    this.#watch();
    kind.queue.add(call.appId, waiting);
    if (kind.running < kind.most) {
      kind.running += 1;
      kind.start(() => void this.#work(kind));
    }
    return promise;
  }

  async #work(kind: Kind): Promise<void> {
    while (!kind.queue.isEmpty) await kind.decide(kind.queue);
    kind.running -= 1;
  }

  /** Refuses the calls that wait too long, when it is time for the first of them. */
  #watch(): void {
    const [first] = this.#waiting;
    if (this.#timer !== null || first === undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      for (const waiting of this.#waiting) {
        if (waiting.due > performance.now()) break;
        this.#refuse(waiting);
      }
      this.#watch();
    }, first.due - performance.now()).unref();
  }

  #refuse(waiting: Waiting): void {
    waiting.state = "refused";
    this.#waiting.delete(waiting);
    waiting.kind.queue.remove(waiting.call.appId, waiting);
    waiting.reject(waitedTooLong(this.#waitSeconds));
  }

  /**
   * To be called in the transaction of a call, before anything else, at each run of it. From then on the call is answered with
   * its result, however long that takes. @returns false when it has waited too long and is refused.
   */
  #begin(waiting: Waiting): boolean {
    if (waiting.state === "waiting" && waiting.due <= performance.now()) this.#refuse(waiting);
    if (waiting.state === "refused") return false;
    waiting.state = "begun";
    this.#waiting.delete(waiting);
    return true;
  }

  /** Takes its calls when the transaction has begun: until then, further ones join, and those that wait too long are refused. */
  async #decideGroup(queue: FairQueue<Waiting>): Promise<void> {
    const group: Waiting[] = [];
    try {
      const decisions = await this.#database.writeGroup((trx) => {
        if (group.length === 0) group.push(...queue.take(MAX_GROUP).filter((waiting) => this.#begin(waiting)));
        return this.#acceptGroup(trx, group);
      });
      for (const [index, { resolve }] of group.entries()) resolve(decisions[index] as CallDecision);
    } catch (error) {
      // The transaction could not begin.
      if (group.length === 0) group.push(...queue.take(MAX_GROUP));
      // While the database is unavailable, the calls fail together: alone, each would wait for it again, and a commit whose answer
      // was lost must not run a second time. Any other error concerns one call, and nothing of the group was stored.
      const failsAll = group.length === 1 || error instanceof DatabaseUnavailable;
      for (const waiting of group) {
        if (failsAll) this.#fail(waiting, error);
        else await this.#settle(waiting, () => this.#decideAlone(waiting));
      }
    }
  }

  async #decideNext(queue: FairQueue<Waiting>): Promise<void> {
    for (const waiting of queue.take(1)) {
      const { prepare } = waiting;
      await this.#settle(waiting, () =>
        prepare === undefined ? this.#decideAlone(waiting) : this.#decidePrepared(waiting, prepare),
      );
    }
  }

  /** @param decide its result is null when the call is refused already. */
  async #settle(waiting: Waiting, decide: () => Promise<CallDecision | null>): Promise<void> {
    try {
      const decision = await decide();
      if (decision !== null) waiting.resolve(decision);
    } catch (error) {
      this.#fail(waiting, error);
    }
  }

  #fail(waiting: Waiting, error: unknown): void {
    this.#waiting.delete(waiting);
    waiting.reject(error);
  }

  async #acceptGroup(trx: Trx, group: readonly Waiting[]): Promise<CallDecision[]> {
    const calls = group.map(({ call }) => call);
    return calls.length === 0 ? [] : acceptGroup(trx, calls, this.#limits, Date.now());
  }

  #decideAlone(waiting: Waiting): Promise<CallDecision | null> {
    return this.#database.writeGroup(async (trx) =>
      this.#begin(waiting) ? only(await this.#acceptGroup(trx, [waiting])) : null,
    );
  }

  /** Rolls back if an item is refused, and decides the others again without it: they do not depend on a refused one. */
  async #decidePrepared(waiting: Waiting, prepare: Prepare): Promise<CallDecision | null> {
    const { call } = waiting;
    const refused = new Map<string, Decision>();
    for (let round = 1; ; round++) {
      const items = call.items.filter(({ id }) => !refused.has(id));
      const all = (decisions: readonly Decision[]): Decision[] => {
        const decided = new Map(items.map(({ id }, index) => [id, decisions[index]]));
        return call.items.flatMap(({ id }) => refused.get(id) ?? decided.get(id) ?? []);
      };
      if (items.length === 0) return { kind: "decided", items: all([]) };
      const part: CandidateCall = { ...call, items, answer: (decisions) => call.answer(all(decisions)) };
      const decision = await this.#alone(waiting, part, prepare);
      if (decision?.kind !== "decided") return decision;
      if (decision.items.every(isStored)) return { kind: "decided", items: all(decision.items) };
      for (const [index, { id }] of items.entries()) {
        const of = decision.items[index];
        if (of === undefined || of.kind === "accepted") continue;
        // Without the refused ones, `prepare` may have room for it.
        if (of.kind !== "failed" || round >= ROUNDS) refused.set(id, of);
      }
    }
  }

  /** Decides items of a call with extra changes. It commits only if nothing has to be rolled back. */
  async #alone(waiting: Waiting, call: CandidateCall, prepare: Prepare): Promise<CallDecision | null> {
    try {
      return await this.#database.write(async (trx) => {
        if (!this.#begin(waiting)) return null;
        const decision = only(await acceptGroup(trx, [call], this.#limits, Date.now(), prepare));
        if (decision.kind !== "decided" || !decision.items.every(isStored)) throw new NotAccepted(decision);
        return decision;
      });
    } catch (error) {
      if (error instanceof NotAccepted) return error.decision;
      throw error;
    }
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

/** Whether what was prepared for an item may stay: it was accepted, or nothing was prepared for it. */
function isStored({ kind }: Decision): boolean {
  return kind === "accepted" || kind === "failed";
}

function only(decisions: readonly CallDecision[]): CallDecision {
  const [decision] = decisions;
  if (decision === undefined) throw new Error("a group of one has one decision");
  return decision;
}

/** Rolls back the transaction of a call that was prepared and then not accepted as a whole. */
class NotAccepted extends Error {
  override readonly name = "NotAccepted";
  readonly decision: CallDecision;

  constructor(decision: CallDecision) {
    super(decision.kind);
    this.decision = decision;
  }
}
