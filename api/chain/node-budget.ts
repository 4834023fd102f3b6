import { backoff } from "../domain/backoff.ts";
import { pause } from "../shared/pause.ts";
import { ChainUnavailable, RateLimited } from "./errors.ts";
import { FREE_FLAG, monotonic, NodeMemory } from "./node-memory.ts";

/** Who gets a call first while the node's provider limits the rate of calls: callers of the API, then what sends, and so on. */
const PRIORITIES = ["api", "send", "follow", "background"] as const;
export type Priority = (typeof PRIORITIES)[number];

/**
 * Part of the calls that each priority has for itself, in their order. The rest of the calls, and what one does not use, goes to
 * the first that waits.
 */
const SHARES = [0.3, 0.25, 0.2, 0.1] as const;
const UNSHARED = 1 - SHARES.reduce((sum, share) => sum + share, 0);

/** Most calls of one priority that wait in a thread. Further ones are refused at once. */
const MOST_WAITING = 1_000;

/** Least calls a second of a node whose provider has refused a call for the first time, before the decrease. */
const FIRST_RATE = 20;
/** The rate never becomes smaller. */
const LEAST_RATE = 1;
/** Above this rate, calls are not counted any more. */
const MOST_RATE = 10_000;
/** What is left of the rate after a refusal, and after a further one without an accepted call between them. */
const DECREASE = 0.8;
const FURTHER_DECREASE = 0.5;
/**
 * While all calls are used, the rate grows in a second by its square root divided by this. That is less than in proportion to
 * the rate, so several processes at one provider come to equal rates.
 */
const GROWTH = 8;
/** Growth is twice as fast after so many seconds without a refusal, and then faster and faster: the limit may be gone. */
const GROWTH_DOUBLES = 10;
/** Calls that may be made at once after a time without calls, as seconds of the rate. */
const BURST = 0.2;
/** Largest part of a second's calls in one HTTP request, so that no other call waits for long. */
const LARGEST_REQUEST = 0.25;
/** Milliseconds after which a call that waits for others is looked at again. */
const LOOK_EVERY = 50;

/** Wait after a refusal that names no time, in milliseconds. */
const REST = { first: 1_000, longest: 30_000 };
/** Shortest wait, whatever the provider says. */
const SHORTEST_REST = 250;
/**
 * Most milliseconds of the random time that is added after a rate limit. Providers count calls by the second. Two processes that
 * always waited exactly as told would come back in the same order within each second.
 */
const JITTER = 250;
/** Milliseconds for which a rate limit is reported after a refusal. */
const REPORTED = 10_000;

/** Flags. */
const LIMITED = FREE_FLAG;
const SECOND = FREE_FLAG + 1;
const ACCEPTED = FREE_FLAG + 2;
const ACCEPTED_BEFORE = FREE_FLAG + 3;
/** The first of four: threads in which calls of a priority wait. */
const WAITING = FREE_FLAG + 4;
/** Indexes of the numbers. `TOKENS` is the first of four, one for each priority. `UNSHARED_TOKENS` is for all priorities. */
const RATE = 0;
const TOKENS = 1;
const UNSHARED_TOKENS = 5;
const REFILLED_AT = 6;
const REST_UNTIL = 7;
const REST_IS_LIMIT = 8;
const REFUSED_AT = 9;
const REFUSALS = 10;
const GREW_AT = 11;
/** 1: a call had to wait since the last growth. */
const DENIED = 12;
/** The first number that is not the budget's. */
export const AFTER_BUDGET = 13;

interface TakeOptions {
  priority: Priority;
  /** Longest wait for the calls of others, in milliseconds. */
  wait: number;
  /** Longest wait while the provider accepts no call, in milliseconds. */
  rest?: number;
  /** Does not wait for the calls of others. */
  urgent?: boolean | undefined;
  abort?: AbortSignal | undefined;
}

interface Refusal {
  /** Milliseconds, if the provider said so. */
  retryAfter: number | null;
  /** When the calls were sent (`monotonic`). */
  startedAt: number;
}

interface Waiter {
  calls: number;
  until: number;
  rest: number;
  resolve: (value: undefined) => void;
  reject: (error: ChainUnavailable) => void;
}

/** When a call can be looked at again; null: it may be made now. */
type Denied = { until: number; rest: boolean } | null;

/**
 * Who may call a node, and when: for all threads of a process. Until its provider refuses a call because of its rate, everybody
 * may, and nothing is counted but the calls of a second. From then on, it learns how many calls a second the provider accepts:
 * the rate grows while all are used, and becomes smaller with each refusal. So several processes share a provider, too.
 */
export class NodeBudget {
  readonly #memory: NodeMemory;
  readonly #queues: { waiting: Waiter[]; wake: AbortController | null }[] = PRIORITIES.map(() => ({
    waiting: [],
    wake: null,
  }));

  constructor(memory = new NodeMemory()) {
    this.#memory = memory;
  }

  /** Most calls in one HTTP request. @param wanted fewer than that are a sign that the rate is too small. */
  largest(wanted: number): number {
    if (!this.#isLimited) return wanted;
    return this.#memory.locked(() => {
      const { numbers } = this.#memory;
      const most = Math.max(1, Math.floor(LARGEST_REQUEST * (numbers[RATE] ?? 0)));
      if (most < wanted) numbers[DENIED] = 1;
      return Math.min(most, wanted);
    });
  }

  /** Whether the provider has refused calls lately because of their rate, or calls wait for it. */
  get isReported(): boolean {
    if (!this.#isLimited) return false;
    if (PRIORITIES.some((_, index) => this.#isWaiting(index))) return true;
    return this.#memory.locked(() => monotonic() - (this.#memory.numbers[REFUSED_AT] ?? 0) < REPORTED);
  }

  /**
   * Resolves when calls may be sent.
   * @throws RateLimited when it takes too long, or ChainUnavailable during an outage.
   */
  async take(calls: number, { priority, wait, rest = wait, urgent = false, abort }: TakeOptions): Promise<void> {
    if (!this.#isLimited) return;
    const index = PRIORITIES.indexOf(priority);
    const until = monotonic() + wait;
    const { waiting } = this.#queue(index);
    if (urgent || waiting.length === 0) {
      const denied = this.#tryTake(index, calls, urgent);
      if (denied === null) return;
      if (isTooLate(denied, { until, rest })) throw this.#refusal(denied);
      // Only a rest denies an urgent call.
      if (urgent) {
        await pause(Math.max(0, denied.until - monotonic()), abort);
        return this.take(calls, { priority, wait: until - monotonic(), rest, urgent: abort?.aborted !== true, abort });
      }
    }
    if (abort?.aborted === true || waiting.length >= MOST_WAITING) throw new RateLimited(LOOK_EVERY, "waiting");
    await this.#wait(index, { calls, until, rest }, abort);
  }

  /** The provider has answered calls. @param startedAt when they were sent (`monotonic`). */
  accepted(calls: number, startedAt: number): void {
    this.#count(calls);
    if (!this.#isLimited) return;
    this.#memory.locked(() => {
      const { numbers } = this.#memory;
      const refusedAt = numbers[REFUSED_AT] ?? 0;
      if (startedAt < refusedAt) return;
      numbers[REFUSALS] = 0;
      const now = monotonic();
      const [rate = 0, grewAt = 0] = [numbers[RATE], numbers[GREW_AT]];
      const seconds = Math.min(1, (now - grewAt) / 1_000);
      numbers[GREW_AT] = now;
      if (numbers[DENIED] === 0) return;
      numbers[DENIED] = 0;
      const calm = (now - refusedAt) / 1_000 / GROWTH_DOUBLES;
      const grown = rate + (seconds * Math.sqrt(rate) * (1 + calm ** 2)) / GROWTH;
      numbers[RATE] = grown > MOST_RATE ? Infinity : grown;
    });
  }

  /** The provider has refused calls because of their rate. */
  refused(calls: number, { retryAfter, startedAt }: Refusal): RateLimited {
    return this.#memory.locked(() => {
      const { numbers, flags } = this.#memory;
      const now = monotonic();
      const refusals = numbers[REFUSALS] ?? 0;
      const told = Math.max(SHORTEST_REST, retryAfter ?? backoff(REST, refusals));
      const rest = told + Math.random() * JITTER;
      // Calls that were sent side by side are refused together: that is one refusal.
      if (startedAt >= (numbers[REFUSED_AT] ?? 0)) {
        const isFirst = Atomics.load(flags, LIMITED) === 0 || numbers[RATE] === Infinity;
        const rate = isFirst ? Math.max(FIRST_RATE, this.#acceptedLately, calls) : (numbers[RATE] ?? 0);
        numbers[RATE] = Math.max(LEAST_RATE, (refusals === 0 ? DECREASE : FURTHER_DECREASE) * rate);
        numbers[REFUSALS] = refusals + 1;
        numbers[REFUSED_AT] = numbers[GREW_AT] = now;
        this.#rest(now + rest, true);
      } else if (retryAfter !== null) this.#rest(now + rest, true);
      return new RateLimited((numbers[REST_UNTIL] ?? now) - now);
    });
  }

  /** The provider is not available, and says for how long, in milliseconds. */
  unavailable(retryAfter: number): ChainUnavailable {
    const rest = Math.max(SHORTEST_REST, retryAfter);
    this.#memory.locked(() => {
      if (!this.#isLimited) this.#memory.numbers[RATE] = Infinity;
      this.#rest(monotonic() + rest, false);
    });
    return outage(rest);
  }

  get #isLimited(): boolean {
    return Atomics.load(this.#memory.flags, LIMITED) === 1;
  }

  /** Calls that were accepted in the last second or two. */
  get #acceptedLately(): number {
    const { flags } = this.#memory;
    return Math.max(Atomics.load(flags, ACCEPTED), Atomics.load(flags, ACCEPTED_BEFORE));
  }

  /** Two threads may begin a second at once, and lose a few calls of it: it is an estimate. */
  #count(calls: number): void {
    const { flags } = this.#memory;
    const second = Math.floor(monotonic() / 1_000) % 2 ** 31;
    const last = Atomics.exchange(flags, SECOND, second);
    if (last !== second)
      Atomics.store(flags, ACCEPTED_BEFORE, Atomics.exchange(flags, ACCEPTED, 0) * Number(last + 1 === second));
    Atomics.add(flags, ACCEPTED, calls);
  }

  /** Under the lock. */
  #rest(until: number, isLimit: boolean): void {
    const { numbers, flags } = this.#memory;
    if (until > (numbers[REST_UNTIL] ?? 0)) {
      numbers[REST_UNTIL] = until;
      numbers[REST_IS_LIMIT] = Number(isLimit);
    }
    // Nothing is saved up while the provider accepts no call.
    numbers.fill(0, TOKENS, UNSHARED_TOKENS + 1);
    numbers[REFILLED_AT] = numbers[REST_UNTIL] ?? until;
    Atomics.store(flags, LIMITED, 1);
  }

  #tryTake(index: number, calls: number, urgent: boolean): Denied {
    return this.#memory.locked(() => {
      const { numbers, flags } = this.#memory;
      const now = monotonic();
      const [rate = 0, restUntil = 0] = [numbers[RATE], numbers[REST_UNTIL]];
      if (restUntil > now) return { until: restUntil, rest: true };
      if (rate === Infinity) {
        Atomics.store(flags, LIMITED, 0);
        return null;
      }
      this.#refill(rate, now);
      const own = numbers[TOKENS + index] ?? 0;
      const unshared = numbers[UNSHARED_TOKENS] ?? 0;
      const isFirst = !PRIORITIES.some((_, other) => other < index && this.#isWaiting(other));
      // A request with several calls may use more tokens than are left: then the next one waits longer.
      if (own > 0 && !urgent) numbers[TOKENS + index] = own - calls;
      else if (urgent || (unshared > 0 && isFirst)) numbers[UNSHARED_TOKENS] = unshared - calls;
      else {
        numbers[DENIED] = 1;
        const seconds = Math.min(-own / (rate * (SHARES[index] ?? 0)), isFirst ? -unshared / (rate * UNSHARED) : 1);
        return { until: now + Math.min(1 + 1_000 * seconds, LOOK_EVERY), rest: false };
      }
      return null;
    });
  }

  /** Under the lock. */
  #refill(rate: number, now: number): void {
    const { numbers } = this.#memory;
    const seconds = Math.min(1, (now - (numbers[REFILLED_AT] ?? 0)) / 1_000);
    if (seconds <= 0) return;
    numbers[REFILLED_AT] = now;
    let left = seconds * rate * UNSHARED;
    for (const [index, share] of SHARES.entries()) {
      const tokens = (numbers[TOKENS + index] ?? 0) + seconds * rate * share;
      const kept = Math.min(tokens, Math.max(1, BURST * rate * share));
      numbers[TOKENS + index] = kept;
      left += tokens - kept;
    }
    numbers[UNSHARED_TOKENS] = Math.min((numbers[UNSHARED_TOKENS] ?? 0) + left, Math.max(1, BURST * rate));
  }

  #isWaiting(index: number): boolean {
    return Atomics.load(this.#memory.flags, WAITING + index) > 0;
  }

  #queue(index: number): { waiting: Waiter[]; wake: AbortController | null } {
    const queue = this.#queues[index];
    if (queue === undefined) throw new Error("there is no such priority");
    return queue;
  }

  async #wait(
    index: number,
    wanted: Pick<Waiter, "calls" | "until" | "rest">,
    abort: AbortSignal | undefined,
  ): Promise<void> {
    const queue = this.#queue(index);
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const waiter: Waiter = { ...wanted, resolve, reject };
    const giveUp = () => {
      waiter.until = -Infinity;
      queue.wake?.abort();
    };
    abort?.addEventListener("abort", giveUp, { once: true });
    queue.waiting.push(waiter);
    if (queue.waiting.length === 1) void this.#serve(index);
    try {
      await promise;
    } finally {
      abort?.removeEventListener("abort", giveUp);
    }
  }

  /** Lets the calls of one priority go, one after the other, until none waits. */
  async #serve(index: number): Promise<void> {
    const queue = this.#queue(index);
    const { flags } = this.#memory;
    Atomics.add(flags, WAITING + index, 1);
    for (let [first] = queue.waiting; first !== undefined; [first] = queue.waiting) {
      const denied = first.until === -Infinity ? NOT_NOW : this.#tryTake(index, first.calls, false);
      if (denied === null) {
        queue.waiting.shift();
        first.resolve(undefined);
        continue;
      }
      const late = queue.waiting.filter((waiter) => isTooLate(denied, waiter));
      queue.waiting = queue.waiting.filter((waiter) => !late.includes(waiter));
      for (const waiter of late) waiter.reject(this.#refusal(denied));
      if (late.includes(first)) continue;
      queue.wake = new AbortController();
      await pause(Math.max(0, denied.until - monotonic()), queue.wake.signal);
    }
    Atomics.sub(flags, WAITING + index, 1);
  }

  #refusal({ until, rest }: NonNullable<Denied>): ChainUnavailable {
    const left = Math.max(0, until - monotonic());
    if (!rest) return new RateLimited(left, "waiting");
    const isLimit = this.#memory.locked(() => this.#memory.numbers[REST_IS_LIMIT] === 1);
    return isLimit ? new RateLimited(left) : outage(left);
  }
}

/** For a call that its caller gave up. */
const NOT_NOW: NonNullable<Denied> = { until: 0, rest: false };

function isTooLate({ until, rest }: NonNullable<Denied>, waiter: { until: number; rest: number }): boolean {
  return until > waiter.until || (rest && until - monotonic() > waiter.rest);
}

function outage(left: number): ChainUnavailable {
  return new ChainUnavailable("the node is not available (HTTP status 503): it is asked again at the time it named", {
    retryAfter: left,
  });
}
