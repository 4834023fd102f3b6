import { setTimeout as wait } from "node:timers/promises";

import { DatabaseUnavailable, isInsertedMeanwhile, isRepeatable } from "../errors.ts";
import type { Db } from "../sql.ts";
import type { Commits, Member } from "../writes.ts";

/** How often a transaction runs before a deadlock or a serialization failure is an error of its operation. */
const MAX_RUNS = 8;
/** How often it runs when a key that it inserts is there already. A key that stays is an error of the operation. */
const MAX_RUNS_AFTER_INSERT = 3;
/** Longest pause before the second run, in milliseconds. It doubles with each further run. */
const FIRST_PAUSE = 10;

/**
 * On PostgreSQL several transactions run at the same time, each on its own connection. When an operation fails, each of its group
 * runs in a transaction of its own. So there are no savepoints, which would cost more than everything else.
 */
export function concurrentCommits(db: Db, atOnce: number): Commits {
  return { atOnce, mostInGroup: 100, joinsGroups: false, commit: (group) => commit(db, group) };
}

async function commit(db: Db, group: readonly Member[]): Promise<void> {
  try {
    await runTransaction(db, group);
  } catch (error) {
    if (group.length === 1 || (error instanceof DatabaseUnavailable && !isRepeatable(error))) {
      for (const member of group) member.failed(error);
    } else {
      for (const member of group) await commit(db, [member]);
    }
    return;
  }
  for (const member of group) member.committed();
}

async function runTransaction(db: Db, group: readonly Member[]): Promise<void> {
  for (let run = 1; ; run += 1) {
    try {
      await db.transaction().execute(async (trx) => {
        for (const member of group) await member.run(trx);
      });
      return;
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
