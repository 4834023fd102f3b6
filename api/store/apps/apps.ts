import { sql } from "kysely";

import { counterKeys, readCounter } from "../db/counters.ts";
import { type Db, forKeyShare, forUpdate, rowSet, textSet, type Trx } from "../db/sql.ts";
import { type KeysetPage, keysetPage, type KeysetQuery, olderThan } from "../db/pages.ts";
import type { AppRow, NewAppRow } from "../db/schema.ts";
import type { Quotas } from "../../domain/quota.ts";
import { quotasOf } from "./quotas.ts";

/** @returns false when the name is taken. */
export async function insertApp(trx: Trx, app: NewAppRow): Promise<boolean> {
  const inserted = await trx
    .insertInto("apps")
    .values(app)
    .onConflict((conflict) => conflict.column("name").doNothing())
    .executeTakeFirst();
  return inserted.numInsertedOrUpdatedRows === 1n;
}

export async function listApps(db: Db): Promise<AppRow[]> {
  return db.selectFrom("apps").selectAll().orderBy("created_at").orderBy("id").execute();
}

/** A page of all apps, newest first. */
export async function pageOfApps(db: Db, { limit, after }: KeysetQuery): Promise<KeysetPage<AppRow>> {
  let query = db.selectFrom("apps").selectAll();
  if (after !== null) query = query.where(olderThan(after));
  const rows = await query
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
  return keysetPage(rows, limit);
}

/** @param which the id or the name of the app. */
export async function findApp(db: Db, which: string): Promise<AppRow | undefined> {
  const byId = await db.selectFrom("apps").selectAll().where("id", "=", which).executeTakeFirst();
  return byId ?? (await db.selectFrom("apps").selectAll().where("name", "=", which).executeTakeFirst());
}

/** The apps with these ids, in their order; undefined for an id that no app has. */
export async function findAppsById(db: Db, ids: readonly string[]): Promise<(AppRow | undefined)[]> {
  const wanted = [...new Set(ids)].map((id) => ({ id }));
  const { rows } = await sql<AppRow>`
    select apps.* from ${rowSet(db, { id: "text" }, wanted)} as input join apps on apps.id = input.id`.execute(db);
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => found.get(id));
}

/**
 * The apps that exist, with their quotas. They cannot be removed until the end of the transaction. Before a quota is compared
 * with what is used, `lockQuotas` locks its app.
 */
export async function holdApps(trx: Trx, appIds: Iterable<string>): Promise<Map<string, Quotas>> {
  const { rows } = await sql<AppRow>`
    select * from apps where id in ${textSet(trx, new Set(appIds))} order by id ${forKeyShare(trx)}`.execute(trx);
  return new Map(rows.map((app) => [app.id, quotasOf(app)]));
}

/** Locks the app for its removal. It waits for the calls of the app that are being stored, and later ones are refused. */
export async function lockApp(trx: Trx, appId: string): Promise<void> {
  await sql`select id from apps where id = ${appId} ${forUpdate(trx)}`.execute(trx);
}

/** Whether the app has wallets, requests or collections, whose tokens on chain would be unreachable without it, or stores files. */
export async function appOwnsSomething(db: Db, appId: string): Promise<boolean> {
  const wallet = await db.selectFrom("wallets").select("seq").where("app_id", "=", appId).limit(1).executeTakeFirst();
  const request = await db.selectFrom("requests").select("seq").where("app_id", "=", appId).limit(1).executeTakeFirst();
  if (wallet !== undefined || request !== undefined) return true;
  // An adopted collection has no request.
  const [collections, bytes] = [counterKeys.collections(appId), counterKeys.mediaBytes(appId)];
  return (await readCounter(db, collections)) > 0 || (await readCounter(db, bytes)) > 0;
}

/** Deletes an app that owns nothing, with its tokens, sessions and webhook. */
export async function deleteApp(trx: Trx, appId: string): Promise<void> {
  const tables = [
    "idempotency_keys",
    // An app without requests can still have test events.
    "abandoned_deliveries",
    "deliveries",
    "events",
    "gas_usage",
    "contract_reads",
    "contract_follows",
    "read_rates",
    "webhooks",
    "console_sessions",
    "api_tokens",
  ] as const;
  for (const table of tables) await trx.deleteFrom(table).where("app_id", "=", appId).execute();
  await trx.deleteFrom("apps").where("id", "=", appId).execute();
}
