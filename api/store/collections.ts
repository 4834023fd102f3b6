import { counterKeys, readCounter } from "./counters.ts";
import type { Db } from "./engine.ts";
import { type Page, type PageQuery, pageOf, rowsToFetch, rowsToSkip } from "./pages.ts";
import type { CollectionRow } from "./schema.ts";

/** Any app's collection, listed or not: where the chain, not the owner, is asked about. */
export async function findCollection(db: Db, address: string): Promise<CollectionRow | undefined> {
  return db.selectFrom("collections").selectAll().where("address", "=", address).executeTakeFirst();
}

/** A successfully created collection of this app; another app's counts as none. */
export async function findCollectionOfApp(db: Db, appId: string, address: string): Promise<CollectionRow | undefined> {
  return db
    .selectFrom("collections")
    .selectAll()
    .where("address", "=", address)
    .where("app_id", "=", appId)
    .where("listed", "=", 1)
    .executeTakeFirst();
}

/** Successfully created ones only, oldest first. */
export async function listCollections(db: Db, appId: string, page: PageQuery): Promise<Page<CollectionRow>> {
  let query = db.selectFrom("collections").selectAll().where("app_id", "=", appId).where("listed", "=", 1);
  if (page.after !== null) query = query.where("seq", ">", page.after);
  const rows = await query.orderBy("seq").limit(rowsToFetch(page)).offset(rowsToSkip(page)).execute();
  return pageOf(rows, await readCounter(db, counterKeys.collections(appId)), page, (row) => row.seq);
}
