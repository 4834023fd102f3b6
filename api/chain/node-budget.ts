import { backoff } from "../domain/backoff.ts";
import { pause } from "../shared/pause.ts";
import { ChainUnavailable, RateLimited } from "./errors.ts";

/** Whose call it is while the node's provider limits their rate: what a caller waits for, what a lane sends, or what reads the past. */
export type Priority = "caller" | "lane" | "past";
/** They take turns, so that none of them stops the others: what is sent is settled by what is read. */
const TURNS: readonly Priority[] = ["caller", "lane", "caller", "past"];
/** Who comes next when nobody waits of those whose turn it is. */
const ORDER: readonly Priority[] = ["caller", "lane", "past"];
/** At most this many calls wait. Further ones are refused at once. */
const MOST_WAITING = 2_000;

/** Calls a second when the provider has refused a call for the first time, if fewer were accepted lately. */
const FIRST_RATE = 20;
const LEAST_RATE = 1;
/** What is left of the rate after a refusal. While all of it is used, it grows by one call a second, each second. */
const DECREASE = 0.7;
/** Milliseconds without a refusal after which the limit counts as gone. */
const FORGOTTEN = 60_000;
/** Calls that may be made at once after a time without calls, and most calls in one HTTP request, as seconds of the rate. */
const BURST = 0.2;
/** Wait after a refusal that names no time, in milliseconds. */
const REST = { first: 1_000, longest: 30_000 };
/** Shortest wait, whatever the provider says. */
const SHORTEST_REST = 250;
/** Milliseconds for which a rate limit is reported after a refusal. */
const REPORTED = 10_000;

interface Wanted {
  priority: Priority;
  /** Longest wait for the calls of others, in milliseconds. */
  wait: number;
  /** Longest wait while the provider accepts no call, in milliseconds. */
  rest?: number;
  /** Does not wait for the calls of others. */
  urgent?: boolean | undefined;
  abort?: AbortSignal | undefined;
}

interface Waiter {
  calls: number;
  until: number;
  restUntil: number;
  start: (refusal: ChainUnavailable | null) => void;
}

/**
 * Who may call a node, and when. Until its provider refuses a call because of its rate, everybody may. From then on, it learns
 * how many calls a second the provider accepts. Other processes do the same, so in the long run the rates become equal.
 */
export class NodeBudget {
  /** Calls a second; null: no limit is known. */
  #rate: number | null = null;
  /** Calls that may be made now. Negative: an HTTP request had several. */
  #left = 0;
  #countedAt = 0;
  /** No call is made until then. */
  #restUntil = 0;
  #isOutage = false;
  #refusedAt = -Infinity;
  /** In a row. */
  #refusals = 0;
  #accepted = { second: 0, calls: 0, before: 0 };
  readonly #waiting: Record<Priority, Waiter[]> = { caller: [], lane: [], past: [] };
  #turn = 0;
  #timer: NodeJS.Timeout | undefined;

  /** How many calls one HTTP request has at most, so that no other call waits for long. */
  largest(wanted: number): number {
    return this.#rate === null ? wanted : Math.min(wanted, Math.max(1, Math.floor(BURST * this.#rate)));
  }

  /** Whether the provider has refused calls lately because of their rate, or calls wait for it. */
  get isLimited(): boolean {
    const isWaiting = Object.values(this.#waiting).some(({ length }) => length > 0);
    return isWaiting || performance.now() - this.#refusedAt < REPORTED;
  }

  /** Resolves when calls may be sent. @throws RateLimited when it takes too long, or ChainUnavailable during an outage. */
  async turn(calls: number, { priority, wait, rest = wait, urgent = false, abort }: Wanted): Promise<void> {
    const now = performance.now();
    const [until, restUntil] = [now + wait, now + rest];
    if (this.#rate === null && this.#restUntil <= now) return;
    if (urgent) {
      await this.#endOfRest(Math.min(until, restUntil), abort);
      this.#left -= calls;
      return;
    }
    const waiting = this.#waiting[priority];
    if (abort?.aborted === true || waiting.length >= MOST_WAITING / ORDER.length)
      throw new RateLimited(REST.first, "waiting");
    const { promise, resolve } = Promise.withResolvers<ChainUnavailable | null>();
    const waiter = { calls, until, restUntil, start: resolve };
    const giveUp = () => {
      this.#waiting[priority] = this.#waiting[priority].filter((one) => one !== waiter);
      resolve(new RateLimited(0, "waiting"));
    };
    abort?.addEventListener("abort", giveUp, { once: true });
    waiting.push(waiter);
    this.#serve();
    const refusal = await promise;
    abort?.removeEventListener("abort", giveUp);
    if (refusal !== null) throw refusal;
  }

  async #endOfRest(until: number, abort: AbortSignal | undefined): Promise<void> {
    for (let now = performance.now(); now < this.#restUntil; now = performance.now()) {
      if (until < this.#restUntil || abort?.aborted === true) throw this.#refusal();
      await pause(this.#restUntil - now, abort);
    }
  }

  /** The provider has answered calls. @param startedAt when they were sent (`performance.now()`). */
  accepted(calls: number, startedAt: number): void {
    const second = Math.floor(performance.now() / 1_000);
    const last = this.#accepted;
    if (last.second !== second)
      this.#accepted = { second, calls: 0, before: last.second === second - 1 ? last.calls : 0 };
    this.#accepted.calls += calls;
    // Calls that were sent before a refusal say nothing about the time after it.
    if (startedAt < this.#refusedAt) return;
    this.#refusals = 0;
    if (this.#rate !== null) this.#rate += calls / this.#rate;
  }

  /**
   * The provider has refused calls because of their rate.
   * @param retryAfter milliseconds, if the provider said so. @param startedAt when they were sent (`performance.now()`).
   */
  refused(calls: number, { retryAfter, startedAt }: { retryAfter: number | null; startedAt: number }): RateLimited {
    const now = performance.now();
    // Calls that were sent side by side are refused together: that is one refusal.
    const isNew = startedAt >= this.#refusedAt;
    if (isNew) {
      const { calls: lately, before } = this.#accepted;
      const rate = this.#rate ?? Math.max(FIRST_RATE, lately, before, calls);
      this.#rate = Math.max(LEAST_RATE, DECREASE * rate);
      this.#refusedAt = now;
    }
    if (isNew || retryAfter !== null) this.#rest(retryAfter ?? backoff(REST, this.#refusals), false);
    if (isNew) this.#refusals += 1;
    return new RateLimited(this.#restUntil - now);
  }

  /** The provider is not available, and says for how long, in milliseconds. */
  unavailable(retryAfter: number): ChainUnavailable {
    this.#rest(retryAfter, true);
    return this.#refusal();
  }

  #rest(wait: number, isOutage: boolean): void {
    const until = performance.now() + Math.max(SHORTEST_REST, wait);
    if (until > this.#restUntil) [this.#restUntil, this.#isOutage] = [until, isOutage];
    // Nothing is saved up while the provider accepts no call.
    [this.#left, this.#countedAt] = [0, this.#restUntil];
    this.#serve();
  }

  /** Lets those go that wait, in turn, as far as the provider allows. */
  #serve(): void {
    clearTimeout(this.#timer);
    for (;;) {
      const now = performance.now();
      const next = this.#nextAt(now);
      if (next > now) this.#refuseLate(next, now);
      const turns = [TURNS[this.#turn % TURNS.length] ?? "caller", ...ORDER];
      const waiting = turns.map((whose) => this.#waiting[whose]).find(({ length }) => length > 0);
      if (waiting === undefined) return;
      if (next > now) {
        this.#timer = setTimeout(() => {
          this.#serve();
        }, next - now);
        return;
      }
      this.#turn += 1;
      const waiter = waiting.shift();
      this.#left -= waiter?.calls ?? 0;
      waiter?.start(null);
    }
  }

  /** When the next call may be made. */
  #nextAt(now: number): number {
    if (this.#restUntil > now) return this.#restUntil;
    if (this.#rate !== null && now - this.#refusedAt > FORGOTTEN) this.#rate = null;
    if (this.#rate === null) return now;
    const grown = this.#left + (this.#rate * (now - this.#countedAt)) / 1_000;
    this.#left = Math.min(grown, Math.max(1, BURST * this.#rate));
    this.#countedAt = now;
    return this.#left > 0 ? now : now + 1 + (1_000 * -this.#left) / this.#rate;
  }

  #refuseLate(next: number, now: number): void {
    const isResting = this.#restUntil > now;
    for (const priority of ORDER) {
      const isLate = ({ until, restUntil }: Waiter) => next > until || (isResting && next > restUntil);
      const late = this.#waiting[priority].filter(isLate);
      this.#waiting[priority] = this.#waiting[priority].filter((waiter) => !isLate(waiter));
      for (const { start } of late) start(isResting ? this.#refusal() : new RateLimited(next - now, "waiting"));
    }
  }

  /** Of a call that would wait too long for the end of a rest. */
  #refusal(): ChainUnavailable {
    const retryAfter = Math.max(0, this.#restUntil - performance.now());
    if (!this.#isOutage) return new RateLimited(retryAfter);
    const words = "the node is not available (HTTP status 503): it is asked again at the time it named";
    return new ChainUnavailable(words, { retryAfter });
  }
}
