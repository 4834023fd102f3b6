import type { ControlledTransaction } from "kysely";

import type { Db, Trx } from "../sql.ts";
import type { Tables } from "../schema.ts";
import type { Checkpoints } from "./sqlite.ts";
import type { WriteTurns } from "./write-turns.ts";

/** After some errors, such as a full disk, SQLite has already ended the transaction. The rollback then fails too. */
async function rollBack(transaction: ControlledTransaction<Tables>): Promise<void> {
  try {
    await transaction.rollback().execute();
  } catch {
    // The transaction is over either way. The caller throws the first error, which is the cause.
  }
}

interface Waiting {
  run: (trx: Trx) => Promise<void>;
  committed: () => void;
  failed: (error: unknown) => void;
}

/** Most operations that share one commit. It limits how long the first one waits. */
const MAX_GROUP = 500;

/**
 * Lets operations share a commit: those of one event-loop tick, and those that arrive during a commit. Each operation runs
 * in its own savepoint, so one that throws rolls back its own changes only. A call returns after the commit.
 */
export class GroupCommit {
  readonly #db: Db;
  readonly #turns: WriteTurns | null;
  readonly #checkpoints: Checkpoints;
  #waiting: Waiting[] = [];
  #running: Promise<void> | null = null;

  /** @param options.turns shared with the other threads that write into the same file; null when there are none. */
  constructor(db: Db, { turns, checkpoints }: { turns: WriteTurns | null; checkpoints: Checkpoints }) {
    this.#db = db;
    this.#turns = turns;
    this.#checkpoints = checkpoints;
  }

  run<T>(operation: (trx: Trx) => Promise<T>): Promise<T> {
    return this.#add(operation, true);
  }

  /** For an operation that stands for a group already: it does not wait for others. */
  runGroup<T>(operation: (trx: Trx) => Promise<T>): Promise<T> {
    return this.#add(operation, false);
  }

  #add<T>(operation: (trx: Trx) => Promise<T>, waits: boolean): Promise<T> {
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
      this.#running ??= this.#drain(waits);
    });
  }

  /** Resolves once nothing is waiting or running. */
  async drained(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  async #drain(waits: boolean): Promise<void> {
    // Let the other operations of this tick join the group.
    if (waits) await nextTurn();
    while (this.#waiting.length > 0) {
      const commit = async () => {
        await this.#commit(this.#waiting.splice(0, MAX_GROUP));
        return this.#checkpoints.isDue() && this.#turns?.beginCheckpoint() !== false;
      };
      const isDue = await (this.#turns === null ? commit() : this.#turns.take(commit));
      if (isDue) await this.#checkpoint();
      // Some operations follow others as soon as these are answered. A long chain of them must not keep everything else waiting.
      else if (this.#waiting.length > 0) await nextTurn();
    }
    this.#running = null;
  }

  /** Runs outside of a turn: it may take longer than the commit, and other threads can write meanwhile. */
  async #checkpoint(): Promise<void> {
    // The callers that waited for the commit get their answers first.
    await nextTurn();
    try {
      this.#checkpoints.run();
    } finally {
      this.#turns?.endCheckpoint();
    }
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

/** Lets the event loop do what else it has to do. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
