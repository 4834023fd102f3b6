import type { EventEmitter } from "node:events";
import { setImmediate, setTimeout } from "node:timers/promises";

import { ApiError } from "../domain/error-codes.ts";
import { FairQueue, FairSlots, type SlotLimits } from "../shared/fair-slots.ts";

/** `Retry-After` in seconds when no further call may wait, or one has waited too long. */
const RETRY_AFTER = 5;

/** Calls that share slots. */
export interface CallKind {
  /** In messages, such as `batches`. */
  name: string;
  /** How many are handled at a time. */
  running: SlotLimits;
  /** How many wait. Further ones are refused. */
  waiting: SlotLimits;
  /** Advice for a caller that waited too long. */
  hint: string;
}

/** Milliseconds of work after which the process first reads what other callers send. */
const HEAVY = 10;
/** Milliseconds of work that every call is allowed besides: receiving it, looking up who makes it, answering it. */
const LIGHT = 0.5;
/** Most calls that begin between two pauses, if all of them are light. */
const MOST_AT_ONCE = 16;
/** Longest pause in milliseconds. */
const LONGEST_PAUSE = 200;

/**
 * Lets the process read what other callers send. SQLite answers at once, so calls that wait would otherwise be handled one after
 * the other. And Node accepts one connection in each turn of the event loop: after heavy work, one turn is not enough.
 */
class Pause {
  #last = performance.eventLoopUtilization();
  /** How many calls have come or begun since. */
  #calls = 0;
  /** How many calls that waited have begun since the last pause. */
  #begun = 0;
  /** How many may begin until the next one. It doubles as long as they are light. */
  #most = 1;

  /** Whether the process has worked hard since the last calls began, and has not been idle. */
  isDue(): boolean {
    const { active, idle } = performance.eventLoopUtilization(this.#last);
    return active > HEAVY + LIGHT * this.#calls && idle === 0;
  }

  /** Whether no further call may begin before a pause. */
  mustCome(): boolean {
    return this.#begun >= this.#most || this.isDue();
  }

  /** Calls begin. */
  begin(): void {
    this.#last = performance.eventLoopUtilization();
    this.#calls = 0;
  }

  /** A call has come. */
  count(): void {
    this.#calls += 1;
  }

  /** A call that waited begins. */
  countBegun(): void {
    // Work before an idle moment delays nobody any more.
    if (performance.eventLoopUtilization(this.#last).idle > 0) this.begin();
    this.#calls += 1;
    this.#begun += 1;
  }

  /** Waits for one turn, or after heavy work until the process is idle, at most as long as that work took. */
  async wait(): Promise<void> {
    await setImmediate();
    this.#begun = 0;
    const heavy = this.isDue();
    this.#most = heavy ? 1 : Math.min(2 * this.#most, MOST_AT_ONCE);
    if (heavy) {
      const work = performance.eventLoopUtilization(this.#last).active;
      const end = performance.now() + Math.min(work, LONGEST_PAUSE);
      while (this.isDue() && performance.now() < end) await setTimeout(1);
    }
    this.begin();
  }
}

interface WaitingCall {
  start: () => void;
}

/** Where a call is answered. It is closed when it was answered, or when its caller is gone. */
type Closable = Pick<EventEmitter, "once" | "off">;

/** A slot that a call has. */
export interface CallSlot {
  /** Whether the call had to wait: what was checked before may no longer be true. */
  waited: boolean;
  free: () => void;
}

/**
 * Limits how many calls of a kind are handled at a time. The slots, and the places of the calls that wait, are divided between
 * the apps, so the calls of one app do not keep those of the others waiting.
 */
export class CallSlots {
  readonly #kind: CallKind;
  readonly #waitSeconds: number;
  readonly #running: FairSlots;
  readonly #places: FairSlots;
  readonly #waiting = new FairQueue<WaitingCall>();
  readonly #pause = new Pause();
  #isStarting = false;

  /** @param waitSeconds how long a call waits. */
  constructor(kind: CallKind, waitSeconds: number) {
    this.#kind = kind;
    this.#waitSeconds = waitSeconds;
    this.#running = new FairSlots(kind.running);
    this.#places = new FairSlots(kind.waiting);
  }

  /**
   * Waits for a slot.
   * @param response the call does not wait any longer when it is closed.
   * @throws ApiError `unavailable` when too many wait, or this one has waited too long
   */
  async take(appId: string, response?: Closable): Promise<CallSlot> {
    const free = () => {
      this.#running.release(appId);
      void this.#startNext();
    };
    const othersWait = this.#places.has(appId);
    // A call does not overtake those of its app that wait.
    if (!othersWait && !this.#pause.isDue() && this.#running.take(appId)) {
      this.#pause.begin();
      return { waited: false, free };
    }
    if (!this.#places.take(appId)) throw this.#tooMany(othersWait);
    this.#pause.count();
    try {
      await this.#wait(appId, response);
    } finally {
      this.#places.release(appId);
    }
    return { waited: true, free };
  }

  async #wait(appId: string, response: Closable | undefined): Promise<void> {
    const started = Promise.withResolvers<null>();
    const waiting = {
      start: () => {
        started.resolve(null);
      },
    };
    const stop = (reason: ApiError) => {
      this.#waiting.remove(appId, waiting);
      // Has no effect on one that has started.
      started.reject(reason);
    };
    const closed = () => {
      stop(new ApiError("request_timeout"));
    };
    response?.once("close", closed);
    const timer = globalThis.setTimeout(() => {
      stop(this.#waitedTooLong());
    }, this.#waitSeconds * 1_000);
    this.#waiting.add(appId, waiting);
    void this.#startNext();
    try {
      await started.promise;
    } finally {
      clearTimeout(timer);
      response?.off("close", closed);
    }
  }

  /**
   * Gives free slots to calls that wait. The apps take turns. As long as the calls are light, many begin in one turn of the
   * event loop and share their look-ups. After a heavy one, only one begins before the process has read what others send.
   */
  async #startNext(): Promise<void> {
    if (this.#isStarting) return;
    this.#isStarting = true;
    while (!this.#waiting.isEmpty) {
      if (this.#pause.mustCome()) await this.#pause.wait();
      const next = this.#next();
      if (next === null) break;
      this.#pause.countBegun();
      next.start();
    }
    this.#isStarting = false;
  }

  #next(): WaitingCall | null {
    return this.#waiting.takeOne((appId) => this.#running.take(appId));
  }

  #tooMany(ofThisApp: boolean): ApiError {
    const { name } = this.#kind;
    const message = ofThisApp
      ? `Too many ${name} of this app are in progress. Wait for their answers, then try again after the number of seconds in \`Retry-After\`.`
      : `Too many ${name} of all apps are in progress. Try again after the number of seconds in \`Retry-After\`.`;
    return new ApiError("unavailable", null, { retryAfter: RETRY_AFTER, message });
  }

  #waitedTooLong(): ApiError {
    const { hint } = this.#kind;
    const message = `The service is busy: it could not begin with the call within ${this.#waitSeconds.toString()} seconds. ${hint}`;
    return new ApiError("unavailable", null, { retryAfter: RETRY_AFTER, message });
  }
}
