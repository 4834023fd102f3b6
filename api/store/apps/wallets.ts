import { addToCounter, counterKeys, readCounter } from "../db/counters.ts";
import type { Db, Trx } from "../db/engine.ts";
import { type Page, type PageQuery, pageOf, rowsToFetch, rowsToSkip } from "../db/pages.ts";
import type { WalletRow } from "../db/schema.ts";

/** @returns false when the app has a wallet for this user already. */
export async function insertWallet(trx: Trx, wallet: Omit<WalletRow, "seq">): Promise<boolean> {
  const inserted = await trx
    .insertInto("wallets")
    .values(wallet)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (inserted.numInsertedOrUpdatedRows !== 1n) return false;
  await addToCounter(trx, counterKeys.wallets(wallet.app_id), 1);
  return true;
}

/** A wallet of this app; another app's counts as none. */
export async function findWallet(db: Db, appId: string, address: string): Promise<WalletRow | undefined> {
  return db
    .selectFrom("wallets")
    .selectAll()
    .where("address", "=", address)
    .where("app_id", "=", appId)
    .executeTakeFirst();
}

export async function findWalletOfUser(db: Db, appId: string, userIdentifier: string): Promise<WalletRow | undefined> {
  return db
    .selectFrom("wallets")
    .selectAll()
    .where("app_id", "=", appId)
    .where("user_identifier", "=", userIdentifier)
    .executeTakeFirst();
}

/** Oldest first. */
export async function listWallets(db: Db, appId: string, page: PageQuery): Promise<Page<WalletRow>> {
  let query = db.selectFrom("wallets").selectAll().where("app_id", "=", appId);
  if (page.after !== null) query = query.where("seq", ">", page.after);
  const rows = await query.orderBy("seq").limit(rowsToFetch(page)).offset(rowsToSkip(page)).execute();
  return pageOf(rows, await readCounter(db, counterKeys.wallets(appId)), page, (row) => row.seq);
}

/** Derivation paths (`a/b/c`) of those of the addresses that are wallets of the service. */
export async function walletPaths(db: Db, addresses: string[]): Promise<Map<string, string>> {
  const paths = new Map<string, string>();
  // Engines bound the number of parameters of one statement.
  for (let start = 0; start < addresses.length; start += 500) {
    const rows = await db
      .selectFrom("wallets")
      .select(["address", "path"])
      .where("address", "in", addresses.slice(start, start + 500))
      .execute();
    for (const row of rows) paths.set(row.address, row.path);
  }
  return paths;
}
