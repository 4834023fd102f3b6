import type { EventEmitter } from "node:events";

import { ApiError } from "../domain/error-codes.ts";
import { FairQueue, FairShares, type ShareLimits } from "../shared/fair-shares.ts";

/** `Retry-After` in seconds when no further call may wait, or one has waited too long. */
const RETRY_AFTER = 5;
/** Calls that wait begin after so many turns of the event loop in which nothing arrived. The first turn may have begun before. */
const QUIET_TURNS = 3;
/** At most this many turns pass before they begin. */
const MOST_TURNS = 64;

/** Calls that share the places of a gate. */
interface GateOptions {
  /** In messages, such as `batches`. */
  name: string;
  /** How many are handled at a time. */
  running: ShareLimits;
  /** How many wait. Further ones are refused. */
  waiting: ShareLimits;
  /** Advice for a caller that waited too long. */
  hint: string;
  /** How long a call waits. */
  seconds: number;
  arrivals: Arrivals;
}

/** The connections and calls that have arrived at the server. */
export interface Arrivals {
  count: number;
}

/** Where a call is answered. It is closed when it was answered, or when its caller is gone. */
type Closable = Pick<EventEmitter, "once" | "off">;

/** The place of a call that is being handled. */
export interface Place {
  /** Whether the call had to wait: what was checked before may no longer be true. */
  waited: boolean;
  leave: () => void;
}

/**
 * Limits how many calls are handled at a time. The others wait in one queue, in which the apps take turns. An app has at most half of
 * the places, and an app without calls always gets one.
 */
export class Gate {
  readonly #options: GateOptions;
  readonly #running: FairShares;
  readonly #places: FairShares;
  readonly #waiting = new FairQueue<() => void>();
  /** Whether calls that wait are about to begin. */
  #isWaking = false;

  constructor(options: GateOptions) {
    this.#options = options;
    this.#running = new FairShares(options.running);
    this.#places = new FairShares(options.waiting);
  }

  /**
   * Waits until the call may be handled.
   * @param response the call does not wait any longer when it is closed.
   * @throws ApiError `unavailable` when too many wait, or this one has waited too long
   */
  async enter(appId: string, response?: Closable): Promise<Place> {
    const leave = () => {
      this.#running.release(appId);
      this.#wake();
    };
    const hasWaiting = this.#places.has(appId);
    // A call does not overtake those of its app that wait.
    if (!hasWaiting && this.#running.take(appId)) return { waited: false, leave };
    if (!this.#places.take(appId)) throw this.#tooMany(hasWaiting);
    try {
      await this.#wait(appId, response);
    } finally {
      this.#places.release(appId);
    }
    return { waited: true, leave };
  }

  /** Resolves when the call has a place to run. A call that stops waiting never gets one. */
  async #wait(appId: string, response: Closable | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const begin = () => {
      resolve(undefined);
    };
    const stop = (reason: ApiError) => {
      this.#waiting.remove(appId, begin);
      // Has no effect on a call that has begun.
      reject(reason);
    };
    const closed = () => {
      stop(new ApiError("request_timeout"));
    };
    response?.once("close", closed);
    const timer = setTimeout(() => {
      stop(this.#waitedTooLong());
    }, this.#options.seconds * 1_000);
    this.#waiting.add(appId, begin);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      response?.off("close", closed);
    }
  }

  /**
   * Lets calls that wait begin, but not at once: SQLite answers at once, so calls would be handled one after the other, and the process
   * would not read what others send. Node accepts one connection in each turn of the event loop.
   */
  #wake(): void {
    if (this.#isWaking || this.#waiting.isEmpty) return;
    this.#isWaking = true;
    const { arrivals } = this.#options;
    let { count } = arrivals;
    let quiet = 0;
    const look = (turns: number) => {
      quiet = count === arrivals.count ? quiet + 1 : 0;
      ({ count } = arrivals);
      if (quiet < QUIET_TURNS && turns < MOST_TURNS) {
        setImmediate(look, turns + 1);
        return;
      }
      this.#isWaking = false;
      this.#beginWaiting();
    };
    setImmediate(look, 1);
  }

  #beginWaiting(): void {
    for (;;) {
      const begin = this.#waiting.takeOne((appId) => this.#running.take(appId));
      if (begin === null) return;
      begin();
    }
  }

  #tooMany(ofThisApp: boolean): ApiError {
    const { name } = this.#options;
    const message = ofThisApp
      ? `Too many ${name} of this app are in progress. Wait for their answers, then try again after the number of seconds in \`Retry-After\`.`
      : `Too many ${name} of all apps are in progress. Try again after the number of seconds in \`Retry-After\`.`;
    return new ApiError("unavailable", null, { retryAfter: RETRY_AFTER, message });
  }

  #waitedTooLong(): ApiError {
    const { hint, seconds } = this.#options;
    const message = `The service is busy: it could not begin with the call within ${seconds.toString()} seconds. ${hint}`;
    return new ApiError("unavailable", null, { retryAfter: RETRY_AFTER, message });
  }
}
