import type { Db, Trx } from "../db/engine.ts";

/** What an `Idempotency-Key` stands for: the call that came first, and the answer that it got. */
export interface StoredAnswer {
  fingerprint: string;
  /** The body of the first answer, as text: a repeated call gets the same bytes, so it is never parsed. */
  response: string;
}

export async function findStoredAnswer(db: Db, appId: string, key: string): Promise<StoredAnswer | undefined> {
  return db
    .selectFrom("idempotency_keys")
    .select(["fingerprint", "response"])
    .where("app_id", "=", appId)
    .where("key", "=", key)
    .executeTakeFirst();
}

/** @returns null when the key was free and is now taken; the answer of the call that has it otherwise. */
export async function claimIdempotencyKey(
  trx: Trx,
  appId: string,
  key: string,
  answer: StoredAnswer,
  now: number,
): Promise<StoredAnswer | null> {
  const inserted = await trx
    .insertInto("idempotency_keys")
    .values({ app_id: appId, key, ...answer, created_at: now })
    .onConflict((conflict) => conflict.columns(["app_id", "key"]).doNothing())
    .executeTakeFirst();
  if (inserted.numInsertedOrUpdatedRows === 1n) return null;
  return trx
    .selectFrom("idempotency_keys")
    .select(["fingerprint", "response"])
    .where("app_id", "=", appId)
    .where("key", "=", key)
    .executeTakeFirstOrThrow();
}
