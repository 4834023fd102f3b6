import { type Metrics, secondsSince } from "../../shared/metrics.ts";
import type { Trx } from "./sql.ts";

/** An operation that waits for its commit. Its result counts once it is committed. */
export interface Member {
  run: (trx: Trx) => Promise<void>;
  committed: () => void;
  failed: (error: unknown) => void;
}

/** How an engine commits a group. */
export interface Commits {
  /** Runs the operations in one transaction, or several, and tells each of them what became of it. Never throws. */
  commit: (group: readonly Member[]) => Promise<void>;
  /** Most transactions at a time. */
  atOnce: number;
  /** Most operations that share a commit. It limits how long the first one waits. */
  mostInGroup: number;
  /** Whether an operation that stands for a group already shares its commit, too. */
  joinsGroups: boolean;
}

/**
 * The writes of a process. Operations share a commit: those of one turn of the event loop, and those that arrive while no
 * further transaction can begin. A call returns after the commit.
 */
export class Writes {
  readonly #commits: Commits;
  readonly #metrics: Pick<Metrics, "database"> | undefined;
  readonly #groups: Member[][] = [];
  /** The group that operations may still join. */
  #open: Member[] | null = null;
  #running = 0;
  /** Whether a commit has ended in this turn of the event loop. */
  #endedNow = false;
  #drained = Promise.withResolvers<null>();

  /** @param metrics measures writes from their call to their commit, with all waits: for others, for a connection, for a lock. */
  constructor(commits: Commits, metrics?: Pick<Metrics, "database">) {
    this.#commits = commits;
    this.#metrics = metrics;
  }

  run<T>(operation: (trx: Trx) => Promise<T>): Promise<T> {
    return this.#add(operation, true, true);
  }

  /** For an operation that stands for a group already: it does not wait for others. */
  runGroup<T>(operation: (trx: Trx) => Promise<T>): Promise<T> {
    return this.#add(operation, this.#commits.joinsGroups, false);
  }

  /** Resolves once nothing is waiting or running. */
  async drained(): Promise<void> {
    while (this.#running > 0 || this.#groups.length > 0) await this.#drained.promise;
  }

  #add<T>(operation: (trx: Trx) => Promise<T>, joins: boolean, waits: boolean): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const started = performance.now();
    const measure = () => this.#metrics?.database("write", secondsSince(started));
    let result: T;
    const member: Member = {
      run: async (trx) => {
        result = await operation(trx);
      },
      committed: () => {
        measure();
        resolve(result);
      },
      failed: (error) => {
        measure();
        reject(error);
      },
    };
    if (joins && this.#open !== null && this.#open.length < this.#commits.mostInGroup) {
      this.#open.push(member);
      return promise;
    }
    const group = [member];
    this.#groups.push(group);
    if (joins) this.#open = group;
    // Others of this turn may join the group.
    if (waits || this.#endedNow) setImmediate(this.#start);
    else this.#start();
    return promise;
  }

  readonly #start = (): void => {
    while (this.#running < this.#commits.atOnce && !this.#endedNow) {
      const group = this.#groups.shift();
      if (group === undefined) return;
      if (group === this.#open) this.#open = null;
      this.#running += 1;
      void this.#commits.commit(group).then(() => {
        this.#ended();
      });
    }
  };

  /** Some operations follow others as soon as these are answered. A long chain of them must not keep everything else waiting. */
  #ended(): void {
    this.#running -= 1;
    if (!this.#endedNow) {
      this.#endedNow = true;
      const hasMore = this.#groups.length > 0;
      setImmediate(() => {
        this.#endedNow = false;
        // Groups that came later have a turn of their own.
        if (hasMore) this.#start();
      });
    }
    if (this.#running > 0 || this.#groups.length > 0) return;
    this.#drained.resolve(null);
    this.#drained = Promise.withResolvers();
  }
}
