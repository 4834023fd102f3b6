import { sql } from "kysely";

import type { Database } from "../../api/store/db/database.ts";
import type { Db, Trx } from "../../api/store/db/sql.ts";

interface Overlap<A, B> {
  first: PromiseSettledResult<A>;
  second: PromiseSettledResult<B>;
  /** Whether the second waited for a lock of the first. */
  waited: boolean;
}

/**
 * Lets the work of a second process meet an open transaction of the first, on PostgreSQL.
 * @param first runs in a transaction. When it calls `meet`, the second begins; `meet` returns once the second waits for a lock,
 *   or has ended. Without that call, they meet before the commit.
 */
export async function overlap<A, B>(
  database: Database,
  first: (trx: Trx, meet: () => Promise<void>) => Promise<A>,
  second: () => Promise<B>,
): Promise<Overlap<A, B>> {
  const state: { waited: boolean; ended: boolean; met: Promise<void> | null; second: Promise<B> | null } = {
    waited: false,
    ended: false,
    met: null,
    second: null,
  };
  const begin = async () => {
    const end = () => {
      state.ended = true;
    };
    state.second = second();
    state.second.then(end, end);
    while (!state.ended && !state.waited) state.waited = await anyWaits(database.read);
  };
  const meet = () => (state.met ??= begin());
  const [one] = await Promise.allSettled([
    database.write(async (trx) => {
      const result = await first(trx, meet);
      await meet();
      return result;
    }),
  ]);
  if (state.second === null) throw new Error("the first process failed before they met", { cause: one });
  const [other] = await Promise.allSettled([state.second]);
  return { first: one, second: other, waited: state.waited };
}

async function anyWaits(db: Db): Promise<boolean> {
  const { rows } = await sql<{ waits: number }>`
    select count(*) as waits from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  return (rows[0]?.waits ?? 0) > 0;
}

/** @throws the error of a process that failed. */
export function valueOf<T>(result: PromiseSettledResult<T>): T {
  if (result.status === "rejected") throw result.reason;
  return result.value;
}
