import { addCalls } from "../store/apps/quotas.ts";
import type { Database } from "../store/db/database.ts";

export interface SharedRatesOptions {
  database: Pick<Database, "write">;
  /** API processes that run now, this one included. */
  processes: () => number;
  /** Length of a window in milliseconds. */
  window: number;
}

/** Calls of one key that this process has counted and the database does not know. */
interface Uncounted {
  calls: number;
  endsAt: number;
  /** The write that adds earlier calls now. */
  adding: Promise<SharedCount> | null;
}

/** What is counted now. */
interface Counted {
  /** At most this many calls, or items, are allowed in a window. */
  limit: number;
  /** How many are counted: 1 for a call. */
  count: number;
}

/** What is known of a key after its calls were added up. */
export interface SharedCount {
  used: number;
  msBeforeNext: number;
}

/** Each process adds its calls to the database when they are this part of those that are left, divided by the processes. */
const SHARE = 4;
/** But not before they are this part of the limit, so that the last calls do not cause a write each. */
const LEAST_SHARE = 50;

/**
 * Adds up the calls of all API processes. A process counts in memory. Only when several run, and only for a key whose calls
 * have become a considerable part of the limit, it adds its count to the database and learns the total. So a key with few
 * calls causes no write. All processes together let through less than a quarter more than the limit: each of the others has
 * less than its share that is not added yet.
 */
export class SharedRates {
  readonly #options: SharedRatesOptions;
  readonly #uncounted = new Map<string, Uncounted>();
  #sweepAt = 0;

  constructor(options: SharedRatesOptions) {
    this.#options = options;
  }

  /**
   * Counts a call, or the items of one.
   * @param local calls in the window as this process knows them, these included, and the milliseconds until its end.
   * @returns the calls of all processes, if they were added up now; null: the local count stands.
   */
  async add(key: string, local: SharedCount, { limit, count }: Counted): Promise<SharedCount | null> {
    const { processes, window } = this.#options;
    const now = Date.now();
    if (now >= this.#sweepAt) this.#sweep(now, window);
    const uncounted = this.#entry(key, now, local.msBeforeNext);
    uncounted.calls += count;
    const running = processes();
    if (running < 2) return null;
    const left = limit - (local.used - uncounted.calls);
    const share = Math.ceil(Math.max(left / (SHARE * running), limit / LEAST_SHARE));
    return uncounted.calls < share ? null : this.#addUp(key, uncounted);
  }

  #entry(key: string, now: number, msBeforeNext: number): Uncounted {
    const known = this.#uncounted.get(key);
    if (known !== undefined && known.endsAt > now) return known;
    const entry: Uncounted = { calls: 0, endsAt: now + msBeforeNext, adding: null };
    this.#uncounted.set(key, entry);
    return entry;
  }

  /**
   * One write at a time. When the calls that arrive meanwhile are a share again, they wait for the next one: while the database
   * is slow, a process lets through no more than two shares that the others do not know.
   */
  async #addUp(key: string, uncounted: Uncounted): Promise<SharedCount> {
    // Its failure concerns its own calls.
    if (uncounted.adding !== null) await uncounted.adding.catch(() => null);
    uncounted.adding ??= this.#write(key, uncounted).finally(() => {
      uncounted.adding = null;
    });
    return uncounted.adding;
  }

  async #write(key: string, uncounted: Uncounted): Promise<SharedCount> {
    const { database, window } = this.#options;
    const now = Date.now();
    const added = { key, used: uncounted.calls, endsAt: uncounted.endsAt };
    uncounted.calls = 0;
    try {
      const total = await database.write((trx) => addCalls(trx, added, { now, window }));
      uncounted.endsAt = total.endsAt;
      return { used: total.used + uncounted.calls, msBeforeNext: Math.max(1, total.endsAt - now) };
    } catch (error) {
      uncounted.calls += added.used;
      throw error;
    }
  }

  #sweep(now: number, window: number): void {
    this.#sweepAt = now + window;
    for (const [key, { endsAt }] of this.#uncounted) if (endsAt <= now) this.#uncounted.delete(key);
  }
}
