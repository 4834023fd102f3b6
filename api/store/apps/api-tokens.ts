import type { Db, Trx } from "../db/engine.ts";
import type { ApiTokenRow } from "../db/schema.ts";

export async function insertApiToken(trx: Trx, token: ApiTokenRow): Promise<void> {
  await trx.insertInto("api_tokens").values(token).execute();
}

/** @param hash SHA-256 of the token, hex. */
export async function findApiTokenByHash(db: Db, hash: string): Promise<ApiTokenRow | undefined> {
  return db.selectFrom("api_tokens").selectAll().where("hash", "=", hash).executeTakeFirst();
}

export async function findApiToken(db: Db, id: string): Promise<ApiTokenRow | undefined> {
  return db.selectFrom("api_tokens").selectAll().where("id", "=", id).executeTakeFirst();
}

export async function listApiTokens(db: Db, appId: string): Promise<ApiTokenRow[]> {
  return db
    .selectFrom("api_tokens")
    .selectAll()
    .where("app_id", "=", appId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
}

/** A token once revoked keeps the time of its first revocation. */
export async function revokeApiToken(trx: Trx, id: string, now: number): Promise<void> {
  await trx
    .updateTable("api_tokens")
    .set({ revoked_at: now })
    .where("id", "=", id)
    .where("revoked_at", "is", null)
    .execute();
}

/** Has a token end by then; one that ends sooner already is left as it is. */
export async function endApiToken(trx: Trx, id: string, at: number): Promise<void> {
  await trx
    .updateTable("api_tokens")
    .set({ expires_at: at })
    .where("id", "=", id)
    .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", at)]))
    .execute();
}
