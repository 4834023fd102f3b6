import { sql } from "kysely";

import { type Db, inParts, rowSet, type Trx } from "../db/sql.ts";

/** The first call with an `Idempotency-Key`, and its answer. */
export interface StoredAnswer {
  fingerprint: string;
  /**
   * The body of the first answer, as text: a repeated call gets the same bytes, so it is never parsed. Empty: it was long, and
   * was pruned (`RETAIN_FAILED_DAYS`).
   */
  response: string;
}

/** A new idempotency key of an app, with the answer to store under it. */
export interface NewAnswer extends StoredAnswer {
  appId: string;
  key: string;
}

/** The stored answers of those keys that were used before, by `answerKey`. */
export async function findStoredAnswers(
  db: Db,
  keys: readonly { appId: string; key: string }[],
): Promise<Map<string, StoredAnswer>> {
  if (keys.length === 0) return new Map();
  const wanted = keys.map(({ appId, key }) => ({ app_id: appId, key }));
  const { rows } = await sql<StoredAnswer & { app_id: string; key: string }>`
    select stored.app_id, stored.key, stored.fingerprint, stored.response from idempotency_keys as stored
      join ${rowSet(db, { app_id: "text", key: "text" }, wanted)} as input
        on stored.app_id = input.app_id and stored.key = input.key`.execute(db);
  return new Map(rows.map(({ app_id, key, ...answer }) => [answerKey(app_id, key), answer]));
}

export function answerKey(appId: string, key: string): string {
  return `${appId}/${key}`;
}

/**
 * Stores the answers of accepted calls.
 * @throws Error when another process has stored one of the keys in the meantime.
 */
export async function insertAnswers(trx: Trx, answers: readonly NewAnswer[], now: number): Promise<void> {
  if (answers.length === 0) return;
  const rows = answers.map(({ appId: app_id, key, fingerprint, response }) => ({ app_id, key, fingerprint, response }));
  const columns = { app_id: "text", key: "text", fingerprint: "text", response: "text" } as const;
  for (const part of inParts(rows)) {
    await sql`
      insert into idempotency_keys (app_id, key, fingerprint, response, created_at)
      select app_id, key, fingerprint, response, ${now} from ${rowSet(trx, columns, part)} as input`.execute(trx);
  }
}
