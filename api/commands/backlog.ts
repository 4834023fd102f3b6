import { BACKLOG_RESERVE } from "../config/limits.ts";
import { counterKeys, readCounters } from "../store/db/counters.ts";
import type { Trx } from "../store/db/sql.ts";

export interface BacklogLimits {
  /** Most requests of all apps that are not final, without those that wait for content. */
  backlog: number;
  /** Most requests of one app that wait for content. */
  mediaBacklog: number;
}

/** Why the backlog takes no further request of an app. */
export type BacklogRefusal = "backlog_full" | "backlog_share_used" | "media_backlog_full";

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

  /** @returns null when one more request of the app has room. */
  refusalOf(app: string, waitsForMedia: boolean): BacklogRefusal | null {
    if (waitsForMedia)
      return this.#count(counterKeys.mediaBacklog(app)) < this.#limits.mediaBacklog ? null : "media_backlog_full";
    const { backlog: limit } = this.#limits;
    const free = limit - this.#count(counterKeys.backlog());
    if (free <= 0) return "backlog_full";
    if (free > Math.ceil(limit * BACKLOG_RESERVE)) return null;
    return this.#count(counterKeys.backlogOfApp(app)) < free ? null : "backlog_share_used";
  }

  /** Counts an accepted request. */
  add(app: string, waitsForMedia: boolean): void {
    const keys = waitsForMedia
      ? [counterKeys.mediaBacklog(app)]
      : [counterKeys.backlog(), counterKeys.backlogOfApp(app)];
    for (const key of keys) this.#counts.set(key, this.#count(key) + 1);
  }

  #count(key: string): number {
    return this.#counts.get(key) ?? 0;
  }
}
