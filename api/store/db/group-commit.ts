import type { ControlledTransaction } from "kysely";

import type { Db, Trx } from "./engine.ts";
import type { Tables } from "./schema.ts";

/** Where the engine ended the transaction itself (a full disk, say) there is nothing to roll back: the first error tells why. */
async function rollBack(transaction: ControlledTransaction<Tables>): Promise<void> {
  try {
    await transaction.rollback().execute();
  } catch {
    // The transaction is over either way, and its connection free again.
  }
}

interface Waiting {
  run: (trx: Trx) => Promise<void>;
  committed: () => void;
  failed: (error: unknown) => void;
}

/** Most operations that share one commit: bounds how long the first waits for the last. */
const MAX_GROUP = 500;

/**
 * Lets the operations of one event-loop tick, and all that arrive while a commit is under way, share one transaction.
 * Each runs in a savepoint of its own: one that throws takes back its own changes and nobody else's. A caller hears of
 * success only after the commit.
 */
export class GroupCommit {
  readonly #db: Db;
  #waiting: Waiting[] = [];
  #running: Promise<void> | null = null;

  constructor(db: Db) {
    this.#db = db;
  }

  run<T>(operation: (trx: Trx) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let result: T;
      this.#waiting.push({
        run: async (trx) => {
          result = await operation(trx);
        },
        committed: () => {
          resolve(result);
        },
        failed: reject,
      });
      this.#running ??= this.#drain();
    });
  }

  /** Resolves once nothing is waiting or running. */
  async drained(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  async #drain(): Promise<void> {
    // Let the rest of this tick join the group.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, MAX_GROUP);
      await this.#commit(group);
    }
    this.#running = null;
  }

  async #commit(group: Waiting[]): Promise<void> {
    const succeeded: Waiting[] = [];
    try {
      const transaction = await this.#db.startTransaction().execute();
      try {
        for (const member of group) {
          const savepoint = await transaction.savepoint("operation").execute();
          try {
            await member.run(savepoint);
            await savepoint.releaseSavepoint("operation").execute();
            succeeded.push(member);
          } catch (error) {
            member.failed(error);
            await savepoint.rollbackToSavepoint("operation").execute();
          }
        }
        await transaction.commit().execute();
      } catch (error) {
        if (!transaction.isCommitted) await rollBack(transaction);
        throw error;
      }
    } catch (error) {
      for (const member of group) member.failed(error);
      return;
    }
    for (const member of succeeded) member.committed();
  }
}
