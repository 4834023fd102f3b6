import { type RawBuilder, sql } from "kysely";

import { forUpdateSkipLocked, rowSet } from "../db/sql.ts";
import { countRows, NOTHING, notParked, type Prunable, removing, sumOf } from "./prunable.ts";

/** About what a session takes, with its entries in indexes. */
const SESSION_BYTES = sql`length(id) * 2 + length(code_hash) * 2 + coalesce(length(hash), 0) * 2 + length(scopes) + 100`;

/** About what a token takes, with its entries in indexes. */
const TOKEN_BYTES = sql`length(id) * 2 + length(app_id) * 2 + length(name) + length(hash) * 2 + length(scopes) + 60`;

/** When a token stopped working; null: it still works. The index `api_tokens_ended` has the same expression. */
const TOKEN_ENDED = sql`(case when expires_at is null or revoked_at < expires_at then revoked_at else expires_at end)`;

/** Rows with an id, which nothing refers to. @param ended when a row stopped being of use, in milliseconds. */
function prunable(table: string, ended: RawBuilder<unknown>, bytes: RawBuilder<unknown>): Prunable {
  const old = (before: number) => sql`${sql.table(table)} where ${ended} < ${before}`;
  return {
    count: (db, before) => countRows(db, old(before), bytes),
    step: 500,
    prune: async (trx, before, limits) => {
      const { rows } = await sql<{ id: string; row_key: string; bytes: number }>`
        select id, id as row_key, ${bytes} as bytes from ${old(before)} ${notParked(trx, sql`id`, limits)}
         order by ${ended} limit ${limits.most} ${forUpdateSkipLocked(trx, table)}`.execute(trx);
      if (rows.length === 0) return NOTHING;
      const set = rowSet(
        trx,
        { id: "text" },
        rows.map(({ id }) => ({ id })),
      );
      await removing(rows, async () => {
        await sql`delete from ${sql.table(table)} where id in (select id from ${set} as input)`.execute(trx);
      });
      return sumOf(rows, limits.most);
    },
  };
}

/** The console's links and sessions that ended long ago. */
export const prunableConsoleSessions = prunable("console_sessions", sql`expires_at`, SESSION_BYTES);

/** Tokens that were revoked or expired long ago. A call with such a token gets 401 as before: the service does not know it. */
export const prunableApiTokens = prunable("api_tokens", TOKEN_ENDED, TOKEN_BYTES);
