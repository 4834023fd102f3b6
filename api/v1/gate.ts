import type { EventEmitter } from "node:events";

import { ApiError } from "../domain/error-codes.ts";
import { FairQueue, FairShares, type ShareLimits } from "../shared/fair-shares.ts";

/** `Retry-After` in seconds when no further call may wait, or one has waited too long. */
const RETRY_AFTER = 5;
/** Calls that wait begin after so many turns of the event loop in which nothing arrived. The first turn may have begun before. */
const QUIET_TURNS = 3;
/** At most this many turns pass before they begin. */
const MOST_TURNS = 64;

/** A call takes a place for each of these bytes that the last answer of its app had. Making long answers takes time and memory. */
const BYTES_OF_PLACE = 512 * 1024;
/** Places of a call while no other call of its app has been answered. */
const PLACES_OF_UNKNOWN = 4;

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
  /** @param bytes of the answer; 0: there is none. */
  leave: (bytes: number) => void;
}

/**
 * Limits how many calls are handled at a time. The others wait in one queue, in which the apps take turns. An app has at most half of
 * the places, and an app without calls always gets one.
 */
export class Gate {
  readonly #options: GateOptions;
  readonly #running: FairShares;
  readonly #places: FairShares;
  readonly #waiting = new FairQueue<(places: number) => void>();
  /** Bytes of the last answer of each app that has calls here. */
  readonly #answered = new Map<string, number>();
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
    const hasWaiting = this.#places.has(appId);
    // A call does not overtake those of its app that wait.
    const places = this.#placesOf(appId);
    if (!hasWaiting && this.#running.take(appId, places)) return { waited: false, leave: this.#leaving(appId, places) };
    if (!this.#places.take(appId)) throw this.#tooMany(hasWaiting);
    try {
      return { waited: true, leave: this.#leaving(appId, await this.#wait(appId, response)) };
    } finally {
      this.#places.release(appId);
    }
  }

  /** Places of the next call of an app. A call beside which no other one of its app runs takes one place, however long its answer is. */
  #placesOf(appId: string): number {
    if (!this.#running.has(appId)) return 1;
    const bytes = this.#answered.get(appId);
    return bytes === undefined ? PLACES_OF_UNKNOWN : Math.max(1, Math.ceil(bytes / BYTES_OF_PLACE));
  }

  #leaving(appId: string, places: number): Place["leave"] {
    return (bytes) => {
      this.#running.release(appId, places);
      if (bytes > 0) this.#answered.set(appId, bytes);
      if (!this.#running.has(appId) && !this.#places.has(appId)) this.#answered.delete(appId);
      this.#wake();
    };
  }

  /** Resolves to the places of the call when it may run. A call that stops waiting never gets any. */
  async #wait(appId: string, response: Closable | undefined): Promise<number> {
    const { promise, resolve: begin, reject } = Promise.withResolvers<number>();
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
      return await promise;
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
      let places = 1;
      const begin = this.#waiting.takeOne((appId) => this.#running.take(appId, (places = this.#placesOf(appId))));
      if (begin === null) return;
      begin(places);
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
