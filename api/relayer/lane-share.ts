import type { LeaseTimes } from "../shared/lease.ts";

/** The processes with the role `relayer`. */
export interface Relayers {
  /** How many run, this one included, as of the last check. */
  readonly count: number;
  /** Counts them again. */
  look(): Promise<number>;
}

/**
 * How many lanes this process drives. Each of n relayers drives its share, a n-th of the lanes, rounded up. A process that has
 * more gives lanes back, but first drives each for at least the time of a lease. A lane whose holder has died is taken by any
 * process at once, whatever its share is.
 *
 * Only the leases decide who may drive a lane: a wrong count of relayers costs time, nothing else.
 */
export class LaneShare {
  /** How many lanes the settings have. */
  readonly lanes: number;
  readonly #relayers: Relayers;
  readonly #times: LeaseTimes;
  readonly #now: () => number;
  /** The lanes that this process drives or is about to take, with the time since when (monotonic clock). */
  readonly #held = new Map<number, number>();
  /** Since when lanes are free that this process leaves to others (monotonic clock). */
  readonly #freeSince = new Map<number, number>();

  /**
   * @param lanes how many lanes the settings have.
   * @param now a monotonic clock.
   */
  constructor(lanes: number, relayers: Relayers, times: LeaseTimes, now = () => performance.now()) {
    this.lanes = lanes;
    this.#relayers = relayers;
    this.#times = times;
    this.#now = now;
  }

  /**
   * Counts a lane that nobody drives as held until `release`, if this process may take it.
   * @param abandoned its holder did not give it back. @returns whether it may
   */
  reserve(lane: number, abandoned: boolean): boolean {
    if (!abandoned && this.#held.size >= this.#share(this.#relayers.count) && !this.#isLeft(lane)) return false;
    this.#held.set(lane, this.#now());
    this.#freeSince.delete(lane);
    return true;
  }

  /** The process no longer drives the lane, or could not take it. */
  release(lane: number): void {
    this.#held.delete(lane);
    this.#freeSince.delete(lane);
  }

  /** Releases the lane if this process has more than its share. @returns whether it did */
  async giveBackSurplus(lane: number): Promise<boolean> {
    if (this.#held.size <= this.#share(this.#relayers.count) || !this.#heldLongEnough(lane)) return false;
    // The last count may be old: a relayer that it includes may have died.
    const count = await this.#relayers.look();
    if (this.#held.size <= this.#share(count) || !this.#held.has(lane)) return false;
    this.release(lane);
    return true;
  }

  #share(relayers: number): number {
    return Math.ceil(this.lanes / Math.max(1, relayers));
  }

  /** A lane that changes hands all the time helps nobody. */
  #heldLongEnough(lane: number): boolean {
    const since = this.#held.get(lane);
    return since !== undefined && this.#now() - since >= this.#times.lasts;
  }

  /** Whether the others had a lease's time to take the lane. They may be unable to drive it. */
  #isLeft(lane: number): boolean {
    const since = this.#freeSince.get(lane) ?? this.#now();
    this.#freeSince.set(lane, since);
    return this.#now() - since >= this.#times.lasts;
  }
}
