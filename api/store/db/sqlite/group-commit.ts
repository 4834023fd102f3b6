import type { ControlledTransaction } from "kysely";

import type { Tables } from "../schema.ts";
import type { Db } from "../sql.ts";
import type { Commits, Member } from "../writes.ts";
import type { Checkpoints } from "./sqlite.ts";

/** SQLite has one writer, so everything that waits shares the next commit. */
export function groupCommits(db: Db, checkpoints: Checkpoints): Commits {
  return {
    atOnce: 1,
    mostInGroup: 500,
    joinsGroups: true,
    commit: async (group) => {
      await commit(db, group);
      if (!checkpoints.isDue()) return;
      // It may take longer than the commit: the callers that waited for that get their answers first.
      await new Promise((resolve) => setImmediate(resolve));
      checkpoints.run();
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
