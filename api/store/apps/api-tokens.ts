import { sql } from "kysely";

import { compiledSetQuery } from "../db/compiled-query.ts";
import { type Db, forUpdate, rowSet, type Trx } from "../db/sql.ts";
import { type KeysetPage, keysetPage, type KeysetQuery, olderThan } from "../db/pages.ts";
import type { ApiTokenRow } from "../db/schema.ts";

/** A token's row, with its scopes parsed. */
export interface StoredToken extends Omit<ApiTokenRow, "scopes"> {
  scopes: string[];
}

function toToken(row: ApiTokenRow): StoredToken {
  return { ...row, scopes: JSON.parse(row.scopes) as string[] };
}

export async function insertApiToken(trx: Trx, token: StoredToken): Promise<void> {
  await trx
    .insertInto("api_tokens")
    .values({ ...token, scopes: JSON.stringify(token.scopes) })
    .execute();
}

const tokensByHash = compiledSetQuery(
  { hash: "text" },
  (input) => sql<ApiTokenRow>`
    select api_tokens.* from ${input} as input join api_tokens on api_tokens.hash = input.hash`,
);

/**
 * @param hashes SHA-256 of the tokens, hex.
 * @returns the tokens in the order of the hashes.
 */
export async function findApiTokensByHash(db: Db, hashes: readonly string[]): Promise<(StoredToken | undefined)[]> {
  const rows = await tokensByHash(
    db,
    [...new Set(hashes)].map((hash) => ({ hash })),
  );
  const found = new Map(rows.map((row) => [row.hash, toToken(row)]));
  return hashes.map((hash) => found.get(hash));
}

export async function findApiToken(db: Db, id: string): Promise<StoredToken | undefined> {
  const row = await db.selectFrom("api_tokens").selectAll().where("id", "=", id).executeTakeFirst();
  return row && toToken(row);
}

export async function listApiTokens(db: Db, appId: string): Promise<StoredToken[]> {
  const rows = await db
    .selectFrom("api_tokens")
    .selectAll()
    .where("app_id", "=", appId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map(toToken);
}

/** A page of the app's tokens, newest first. */
export async function pageOfApiTokens(
  db: Db,
  appId: string,
  { limit, after }: KeysetQuery,
): Promise<KeysetPage<StoredToken>> {
  let query = db.selectFrom("api_tokens").selectAll().where("app_id", "=", appId);
  if (after !== null) query = query.where(olderThan(after));
  const rows = await query
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
  return keysetPage(rows.map(toToken), limit);
}

/** How many tokens of each app work at `now`. Apps without any are left out. */
export async function countLiveTokens(db: Db, appIds: readonly string[], now: number): Promise<Map<string, number>> {
  const wanted = appIds.map((id) => ({ id }));
  const { rows } = await sql<{ app_id: string; count: number }>`
    select app_id, count(*) as count from api_tokens
     where app_id in (select id from ${rowSet(db, { id: "text" }, wanted)} as input)
       and revoked_at is null and (expires_at is null or expires_at > ${now}) group by app_id`.execute(db);
  return new Map(rows.map(({ app_id: app, count }) => [app, count]));
}

/** The token, which nobody else changes until the end of the transaction. */
export async function lockApiToken(trx: Trx, id: string): Promise<StoredToken | undefined> {
  const { rows } = await sql<ApiTokenRow>`select * from api_tokens where id = ${id} ${forUpdate(trx)}`.execute(trx);
  const [row] = rows;
  return row && toToken(row);
}

/** Revokes a token. One that is revoked already keeps its first revocation time. */
export async function revokeApiToken(trx: Trx, id: string, now: number): Promise<void> {
  await trx
    .updateTable("api_tokens")
    .set({ revoked_at: now })
    .where("id", "=", id)
    .where("revoked_at", "is", null)
    .execute();
}

/** Brings a token's end forward to `at`. One that ends sooner is left unchanged. */
export async function endApiToken(trx: Trx, id: string, at: number): Promise<void> {
  await trx
    .updateTable("api_tokens")
    .set({ expires_at: at })
    .where("id", "=", id)
    .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", at)]))
    .execute();
}
