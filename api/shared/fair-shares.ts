/** How many pieces of work may run at the same time. */
export interface ShareLimits {
  /** Places that the apps share. */
  shared: number;
  /** One app has at most this many of them. */
  ofApp: number;
  /** At most this many pieces of work of all apps. An app without any may begin one until then, also when the shared places are used up. */
  most: number;
}

/**
 * Divides places between the apps. An app may use no more shared places than it leaves free, so a few apps cannot use up all
 * of them. Each app may have one place whatever the others do.
 */
export class FairShares {
  readonly #limits: ShareLimits;
  readonly #slow: ReadonlySet<string>;
  readonly #used = new Map<string, number>();
  #total = 0;

  /**
   * @param running the app of each piece of work that runs; an app is listed once for each.
   * @param slow apps whose servers do not answer in time. They get one place each.
   */
  constructor(limits: ShareLimits, running: readonly string[] = [], slow: ReadonlySet<string> = new Set()) {
    this.#limits = limits;
    this.#slow = slow;
    for (const app of running) this.#add(app);
  }

  /** How many more pieces of work may begin. */
  get free(): number {
    return Math.max(0, this.#limits.most - this.#total);
  }

  /** Apps that have their share. They must wait until some of the work ends. */
  get full(): string[] {
    return [...this.#used.keys()].filter((app) => !this.#mayBegin(app));
  }

  /** Whether an app has places. */
  has(app: string): boolean {
    return this.#used.has(app);
  }

  /** Takes places for an app. @returns false when the app has its share. */
  take(app: string, places = 1): boolean {
    if (!this.#mayBegin(app, places)) return false;
    this.#add(app, places);
    return true;
  }

  /** Gives places back. */
  release(app: string, places = 1): void {
    const left = (this.#used.get(app) ?? 0) - places;
    if (left > 0) this.#used.set(app, left);
    else this.#used.delete(app);
    this.#total -= places;
  }

  #mayBegin(app: string, places = 1): boolean {
    return this.free > 0 && (this.#used.get(app) ?? 0) + places <= this.#shareOf(app);
  }

  #shareOf(app: string): number {
    const { shared, ofApp } = this.#limits;
    return this.#slow.has(app) ? 1 : Math.max(1, Math.min(ofApp, shared - this.#total));
  }

  #add(app: string, places = 1): void {
    this.#used.set(app, (this.#used.get(app) ?? 0) + places);
    this.#total += places;
  }
}

/** Items that wait, each for an app. The apps take turns; the items of one app keep their order. */
export class FairQueue<T> {
  /** The app whose turn is next comes first. */
  readonly #waiting = new Map<string, Set<T>>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  add(app: string, item: T): void {
    const items = this.#waiting.get(app);
    if (items === undefined) this.#waiting.set(app, new Set([item]));
    else items.add(item);
  }

  /** Removes an item that no longer waits. */
  remove(app: string, item: T): void {
    const items = this.#waiting.get(app);
    if (items?.delete(item) === true && items.size === 0) this.#waiting.delete(app);
  }

  /** Removes the first item of the first app in turn that may start. Null: no app may. */
  takeOne(mayStart: (app: string) => boolean = () => true): T | null {
    for (const [app, items] of this.#waiting) {
      const [item] = items;
      if (item === undefined || !mayStart(app)) continue;
      items.delete(item);
      // An app that is set again comes last.
      this.#waiting.delete(app);
      if (items.size > 0) this.#waiting.set(app, items);
      return item;
    }
    return null;
  }
}
