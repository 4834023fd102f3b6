import { FairSlots, type SlotLimits, type Slots } from "../shared/fair-slots.ts";
import type { DueDelivery } from "../store/outbox/due-deliveries.ts";

/** Deliveries that are sent at the same time: receivers that hang do not delay other apps. */
const SENDING: SlotLimits = { shared: 32, ofApp: 4, most: 256 };
/** Most deliveries that a process has taken, those that wait for a slot included. */
const MOST_TAKEN = 2_048;
/** Most deliveries of an app that are taken ahead of their slots. */
const MOST_AHEAD = 512;
/** Apps whose lines are kept while nothing is in them. */
const MOST_EMPTY = 1_000;
/** Milliseconds that a delivery waits for a slot. After that it is given back: its URL and its secrets may have changed. */
const LONGEST_WAIT = 1_000;

/** How a receiver answered. */
export type ReceiverAnswer = "fast" | "slow" | "none";

interface Waiting {
  delivery: DueDelivery;
  takenAt: number;
}

interface Line {
  waiting: Waiting[];
  sending: number;
  /** How many deliveries are taken ahead. It grows with each fast answer. Any other answer, or none, sets it to 0. */
  ahead: number;
}

/**
 * The deliveries that this process has taken: for each app a line, whose first ones are being sent. An app with a fast
 * receiver gets a long line, so that one read of the database takes many.
 */
export class DeliveryLines {
  readonly #lines = new Map<string, Line>();
  /** The apps whose lines have deliveries that wait for a slot. */
  readonly #queued = new Set<string>();
  readonly #slow = new Set<string>();
  readonly #slots = new FairSlots(SENDING, [], this.#slow);
  /** Monotonic clock. */
  readonly #now: () => number;
  #sending = 0;
  #waiting = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** How many more may be taken now. @param unrecorded deliveries that were sent and whose results are not stored yet. */
  room(unrecorded: number): Slots {
    const free = MOST_TAKEN - this.#sending - this.#waiting - unrecorded;
    return new Room(this.#slots.copy(), free, (app) => {
      const line = this.#lines.get(app);
      return line === undefined ? 0 : line.ahead - line.waiting.length;
    });
  }

  add(taken: readonly DueDelivery[]): void {
    for (const delivery of taken) {
      this.#lineOf(delivery.appId).waiting.push({ delivery, takenAt: this.#now() });
      this.#queued.add(delivery.appId);
    }
    this.#waiting += taken.length;
  }

  /** The next delivery that has a slot, which is sent now. @param app the only one that is asked. */
  next(app?: string): DueDelivery | null {
    if (app !== undefined) return this.#start(app);
    for (const queued of this.#queued) {
      const next = this.#start(queued);
      if (next !== null) return next;
    }
    return null;
  }

  /** A delivery was sent, and its slot is free. After a slow one, its app gets one slot at a time until one is fast. */
  sent({ appId }: DueDelivery, answer: ReceiverAnswer): void {
    const line = this.#lineOf(appId);
    line.sending -= 1;
    this.#sending -= 1;
    this.#slots.release(appId);
    if (answer === "slow") this.#slow.add(appId);
    else this.#slow.delete(appId);
    line.ahead = answer === "fast" ? Math.min(MOST_AHEAD, line.ahead + 1) : 0;
    if (this.#lines.size > MOST_EMPTY && line.sending + line.waiting.length === 0) this.#lines.delete(appId);
  }

  /** Removes the deliveries of an app that wait for a slot. */
  removeApp(appId: string): DueDelivery[] {
    return this.#remove(appId, () => true);
  }

  /** Removes the deliveries that have waited too long for a slot. Fewer are taken ahead for their apps then. */
  removeOverdue(): DueDelivery[] {
    return [...this.#queued].flatMap((app) => this.#remove(app, (waiting) => this.#isOverdue(waiting)));
  }

  /** Removes all deliveries that wait for a slot. */
  removeUnsent(): DueDelivery[] {
    return [...this.#queued].flatMap((app) => this.removeApp(app));
  }

  #start(app: string): DueDelivery | null {
    const line = this.#lines.get(app);
    const first = line?.waiting[0];
    // After a pause, or while nothing can be stored, another process may have taken it.
    if (line === undefined || first === undefined || this.#isOverdue(first) || !this.#slots.take(app)) return null;
    line.waiting.shift();
    if (line.waiting.length === 0) this.#queued.delete(app);
    line.sending += 1;
    this.#sending += 1;
    this.#waiting -= 1;
    return first.delivery;
  }

  #isOverdue({ takenAt }: Waiting): boolean {
    return takenAt < this.#now() - LONGEST_WAIT;
  }

  #remove(app: string, chosen: (waiting: Waiting) => boolean): DueDelivery[] {
    const line = this.#lines.get(app);
    const removed = line?.waiting.filter(chosen) ?? [];
    if (line === undefined || removed.length === 0) return [];
    line.waiting = line.waiting.filter((waiting) => !chosen(waiting));
    if (line.waiting.length === 0) this.#queued.delete(app);
    line.ahead = Math.floor(line.ahead / 2);
    this.#waiting -= removed.length;
    return removed.map(({ delivery }) => delivery);
  }

  #lineOf(app: string): Line {
    const known = this.#lines.get(app);
    if (known !== undefined) return known;
    const line: Line = { waiting: [], sending: 0, ahead: 0 };
    this.#lines.set(app, line);
    return line;
  }
}

/** What may be taken: a delivery for each free slot, and more ahead for the apps whose receivers answer. */
class Room implements Slots {
  readonly #slots: FairSlots;
  readonly #aheadOf: (app: string) => number;
  readonly #ahead = new Map<string, number>();
  #free: number;

  constructor(slots: FairSlots, free: number, aheadOf: (app: string) => number) {
    this.#slots = slots;
    this.#free = free;
    this.#aheadOf = aheadOf;
  }

  get free(): number {
    return this.#free;
  }

  get full(): string[] {
    return this.#slots.full.filter((app) => this.#leftAhead(app) <= 0);
  }

  take(app: string): boolean {
    if (this.#free <= 0) return false;
    if (!this.#slots.take(app)) {
      const left = this.#leftAhead(app);
      if (left <= 0) return false;
      this.#ahead.set(app, left - 1);
    }
    this.#free -= 1;
    return true;
  }

  #leftAhead(app: string): number {
    return this.#ahead.get(app) ?? this.#aheadOf(app);
  }
}
