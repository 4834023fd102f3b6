import { type RawBuilder, sql } from "kysely";

import { forUpdateSkipLocked } from "../db/row-locks.ts";
import { rowSet } from "../db/row-set.ts";
import { countRows, NOTHING, notParked, type Prunable, removing, sumOf } from "./prunable.ts";

/** About what a session takes, with its entries in indexes. */
const BYTES = sql`length(id) * 2 + length(code_hash) * 2 + coalesce(length(hash), 0) * 2 + length(scopes) + 100`;

function old(before: number): RawBuilder<unknown> {
  return sql`console_sessions where expires_at < ${before}`;
}

/** The console's links and sessions that ended long ago. */
export const prunableConsoleSessions: Prunable = {
  count: (db, before) => countRows(db, old(before), BYTES),
  step: 500,
  prune: async (trx, before, limits) => {
    const { rows } = await sql<{ id: string; row_key: string; bytes: number }>`
      select id, id as row_key, ${BYTES} as bytes from ${old(before)} ${notParked(trx, sql`id`, limits)}
       order by expires_at limit ${limits.most} ${forUpdateSkipLocked(trx, "console_sessions")}`.execute(trx);
    if (rows.length === 0) return NOTHING;
    const set = rowSet(
      trx,
      { id: "text" },
      rows.map(({ id }) => ({ id })),
    );
    await removing(rows, async () => {
      await sql`delete from console_sessions where id in (select id from ${set} as input)`.execute(trx);
    });
    return sumOf(rows, limits.most);
  },
};
