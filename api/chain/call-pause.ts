import { pause } from "../shared/pause.ts";
import { ChainUnavailable, RateLimited } from "./errors.ts";

/** Wait after a refusal that names no time, in milliseconds. It doubles with each further refusal up to `LONGEST`. */
const FIRST = 1_000;
const LONGEST = 30_000;
/** Shortest wait, whatever the provider says. */
const SHORTEST = 250;
/**
 * Most milliseconds of the random time that is added after a rate limit. Providers count calls by the second. Two callers that
 * always waited exactly as told would come back in the same order within each second, and the later one would never get a call.
 */
const JITTER = 1_000;
const NEVER = new AbortController().signal;

/** While a provider refuses all calls, none is sent: after a rate limit, or for as long as `Retry-After` says. */
export class CallPause {
  /** Monotonic clock. */
  #until = 0;
  #isRateLimit = false;
  #refusals = 0;

  /**
   * Waits until calls may be sent again.
   * @param most longest wait in milliseconds.
   * @throws RateLimited, or ChainUnavailable during an outage, if the wait is longer.
   */
  async wait(most: number, abort: AbortSignal = NEVER): Promise<void> {
    for (;;) {
      const left = this.#until - performance.now();
      if (left <= 0) return;
      if (left > most || abort.aborted) throw this.#error(left);
      await pause(left, abort);
    }
  }

  /** The provider limits the rate of calls. @param retryAfter milliseconds, if it said so. */
  rateLimited(retryAfter: number | null): RateLimited {
    const told = Math.max(SHORTEST, retryAfter ?? Math.min(FIRST * 2 ** this.#refusals, LONGEST));
    const wait = told + Math.random() * JITTER;
    this.#refusals += 1;
    this.#start(wait, true);
    return new RateLimited(wait);
  }

  /** The provider is not available, and says for how long. */
  unavailable(retryAfter: number): ChainUnavailable {
    this.#start(Math.max(SHORTEST, retryAfter), false);
    return this.#error(retryAfter);
  }

  accepted(): void {
    this.#refusals = 0;
  }

  #start(wait: number, isRateLimit: boolean): void {
    this.#until = Math.max(this.#until, performance.now() + wait);
    this.#isRateLimit = isRateLimit;
  }

  #error(left: number): ChainUnavailable {
    if (this.#isRateLimit) return new RateLimited(left);
    return new ChainUnavailable("the node is not available (HTTP status 503): the service tries again when it said", {
      retryAfter: left,
    });
  }
}
