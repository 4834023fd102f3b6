import { BACKLOG_RESERVE } from "../config/limits.ts";
import { ApiError } from "../domain/error-codes.ts";
import { counterKeys, readCounters } from "../store/db/counters.ts";
import type { Trx } from "../store/db/sql.ts";
import type { Item } from "./accept.ts";

export interface BacklogLimits {
  /** At most this many requests of all apps are not final, without those that wait for content. */
  backlog: number;
  /** At most this many requests of one app wait for content. */
  mediaBacklog: number;
}

/**
 * Shares the backlog between the apps, for a group of calls. While more than the reserve is free, any app may use it. After
 * that it is short: an app is refused while it has at least as many requests as places are left. So an app that filled the
 * backlog is refused first, and the others still find room.
 */
export class Backlog {
  readonly #limits: BacklogLimits;
  readonly #counts: Map<string, number>;

  private constructor(limits: BacklogLimits, counts: Map<string, number>) {
    this.#limits = limits;
    this.#counts = counts;
  }

  /** Reads what is waiting now. One statement, however many apps there are. */
  static async read(trx: Trx, apps: ReadonlySet<string>, limits: BacklogLimits): Promise<Backlog> {
    const ofApps = [...apps].flatMap((app) => [counterKeys.backlogOfApp(app), counterKeys.mediaBacklog(app)]);
    return new Backlog(limits, await readCounters(trx, [counterKeys.backlog(), ...ofApps]));
  }

  /** @returns null when there is room for the item. */
  refusalOf({ appId, waitsForMedia }: Item): ApiError | null {
    const { backlog, mediaBacklog } = this.#limits;
    if (waitsForMedia === true) {
      if (this.#count(counterKeys.mediaBacklog(appId)) < mediaBacklog) return null;
      return unavailable("Too many requests of this app wait for their media.");
    }
    const free = backlog - this.#count(counterKeys.backlog());
    if (free <= 0) return unavailable("Too many requests of all apps are waiting.");
    if (free > Math.ceil(backlog * BACKLOG_RESERVE) || this.#count(counterKeys.backlogOfApp(appId)) < free) return null;
    return unavailable("Room for waiting requests is short, and this app already uses its share.");
  }

  /** Counts an accepted item. */
  add({ appId, waitsForMedia }: Item): void {
    const keys =
      waitsForMedia === true
        ? [counterKeys.mediaBacklog(appId)]
        : [counterKeys.backlog(), counterKeys.backlogOfApp(appId)];
    for (const key of keys) this.#counts.set(key, this.#count(key) + 1);
  }

  #count(key: string): number {
    return this.#counts.get(key) ?? 0;
  }
}

/** `Retry-After` in seconds when the backlog has no room. */
const RETRY_AFTER = 30;

function unavailable(reason: string): ApiError {
  const message = `${reason} Try again after the number of seconds in \`Retry-After\`.`;
  return new ApiError("unavailable", null, { retryAfter: RETRY_AFTER, message });
}
