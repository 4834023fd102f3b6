import type { ControlledTransaction } from "kysely";

import type { Tables } from "../schema.ts";
import type { Db } from "../sql.ts";
import type { Commits, Member } from "../writes.ts";
import type { Checkpoints } from "./sqlite.ts";
import type { WriteTurns } from "./write-turns.ts";

interface Options {
  /** Shared with the other threads that write into the same file; null when there are none. */
  turns: WriteTurns | null;
  checkpoints: Checkpoints;
}

/** SQLite has one writer, so everything that waits shares the next commit. */
export function groupCommits(db: Db, { turns, checkpoints }: Options): Commits {
  const commitThenLook = async (group: readonly Member[]) => {
    await commit(db, group);
    return checkpoints.isDue() && turns?.beginCheckpoint() !== false;
  };
  return {
    atOnce: 1,
    mostInGroup: 500,
    joinsGroups: true,
    commit: async (group) => {
      const isDue = await (turns === null ? commitThenLook(group) : turns.take(() => commitThenLook(group)));
      if (!isDue) return;
      // Outside of a turn: it may take longer than the commit, and other threads can write meanwhile. The callers that waited
      // for the commit get their answers first.
      await new Promise((resolve) => setImmediate(resolve));
      try {
        checkpoints.run();
      } finally {
        turns?.endCheckpoint();
      }
    },
  };
}

/** Each operation runs in its own savepoint, so one that throws rolls back its own changes only. */
async function commit(db: Db, group: readonly Member[]): Promise<void> {
  const succeeded: Member[] = [];
  try {
    const transaction = await db.startTransaction().execute();
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

/** After some errors, such as a full disk, SQLite has already ended the transaction. The rollback then fails too. */
async function rollBack(transaction: ControlledTransaction<Tables>): Promise<void> {
  try {
    await transaction.rollback().execute();
  } catch {
    // The transaction is over either way. The caller throws the first error, which is the cause.
  }
}
