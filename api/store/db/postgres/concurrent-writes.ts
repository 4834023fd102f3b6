import { setTimeout as wait } from "node:timers/promises";

import { DatabaseUnavailable, isInsertedMeanwhile, isRepeatable } from "../errors.ts";
import type { Db, Trx } from "../sql.ts";

/** Most operations that share one commit. It limits how long the first one waits. */
const MAX_GROUP = 100;
/** How often a transaction runs before a deadlock or a serialization failure is an error of its operation. */
const MAX_RUNS = 8;
/** How often it runs when a key that it inserts is there already. A key that stays is an error of the operation. */
const MAX_RUNS_AFTER_INSERT = 3;
/** Longest pause before the second run, in milliseconds. It doubles with each further run. */
const FIRST_PAUSE = 10;

/** An operation with its result, which counts once it is committed. */
interface Waiting {
  run: (trx: Trx) => Promise<() => void>;
  failed: (error: unknown) => void;
}

/**
 * The writes of a process on PostgreSQL. Several transactions run at the same time, each on its own connection. Operations
 * that arrive together share a transaction; when one of them fails, each runs in a transaction of its own. So there are no
 * savepoints, which would cost more than everything else.
 */
export class ConcurrentWrites {
  readonly #db: Db;
  readonly #limit: number;
  readonly #groups: Waiting[][] = [];
  /** The group that operations may still join. */
  #open: Waiting[] | null = null;
  #running = 0;
  #drained = Promise.withResolvers<null>();

  /** @param limit most transactions at a time. */
  constructor(db: Db, limit: number) {
    this.#db = db;
    this.#limit = limit;
  }

  run<T>(operation: (trx: Trx) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const member = memberOf(operation, resolve, reject);
      if (this.#open !== null && this.#open.length < MAX_GROUP) {
        this.#open.push(member);
        return;
      }
      this.#open = [member];
      this.#groups.push(this.#open);
      // Let the other operations of this tick join the group.
      setImmediate(() => {
        this.#start();
      });
    });
  }

  /** For an operation that stands for a group already: it has a transaction of its own. */
  runGroup<T>(operation: (trx: Trx) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#groups.push([memberOf(operation, resolve, reject)]);
      this.#start();
    });
  }

  /** Resolves once nothing is waiting or running. */
  async drained(): Promise<void> {
    while (this.#running > 0 || this.#groups.length > 0) await this.#drained.promise;
  }

  #start(): void {
    while (this.#running < this.#limit) {
      const group = this.#groups.shift();
      if (group === undefined) return;
      if (group === this.#open) this.#open = null;
      this.#running += 1;
      void this.#commit(group).finally(() => {
        this.#running -= 1;
        this.#start();
        if (this.#running > 0) return;
        this.#drained.resolve(null);
        this.#drained = Promise.withResolvers();
      });
    }
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    try {
      const committed = await this.#transaction(group);
      for (const tell of committed) tell();
    } catch (error) {
      if (group.length === 1 || (error instanceof DatabaseUnavailable && !isRepeatable(error))) {
        for (const member of group) member.failed(error);
      } else {
        for (const member of group) await this.#commit([member]);
      }
    }
  }

  async #transaction(group: readonly Waiting[]): Promise<(() => void)[]> {
    for (let run = 1; ; run += 1) {
      try {
        return await this.#db.transaction().execute(async (trx) => {
          const results: (() => void)[] = [];
          for (const member of group) results.push(await member.run(trx));
          return results;
        });
      } catch (error) {
        const repeats = isRepeatable(error) || (isInsertedMeanwhile(error) && run < MAX_RUNS_AFTER_INSERT);
        if (!repeats || group.length > 1) throw error;
        if (run === MAX_RUNS) {
          throw new DatabaseUnavailable("The database is busy: a write met other writes again and again.", {
            cause: error,
          });
        }
        // Two that met should not meet again.
        await wait(Math.random() * FIRST_PAUSE * 2 ** run);
      }
    }
  }
}

function memberOf<T>(
  operation: (trx: Trx) => Promise<T>,
  resolve: (result: T) => void,
  failed: (error: unknown) => void,
): Waiting {
  return {
    run: async (trx) => {
      const result = await operation(trx);
      return () => {
        resolve(result);
      };
    },
    failed,
  };
}
