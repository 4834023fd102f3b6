import { sql } from "kysely";

import { type ImportedKey, KeyError, type StoredWallet } from "../../domain/stored-wallet.ts";
import { codeOf, NO_PRIVILEGE } from "../db/errors.ts";
import { type Db, rowSet, textSet, type Trx } from "../db/sql.ts";
import { walletsAt } from "./wallets.ts";

/** A key, and the address (EIP-55) of its wallet. */
type NewImportedKey = ImportedKey & Pick<StoredWallet, "address">;

/**
 * Stores keys, and makes their wallets sign. A key that is there is replaced by the same key, encrypted again.
 * @throws KeyError when the user of the database may not.
 */
export async function storeImportedKeys(trx: Trx, keys: readonly NewImportedKey[], now: number): Promise<void> {
  // A table may have a row twice.
  const distinct = new Map(keys.map((key) => [key.address, key]));
  const rows = Array.from(distinct.values(), ({ address, sealed, replacesDelegation }) => ({
    ...{ wallet: address, sealed, replaces: replacesDelegation ? 1 : 0 },
  }));
  await sql`
    insert into imported_keys (wallet, sealed, replaces_delegation, created_at)
    select wallet, sealed, replaces, ${now}
      from ${rowSet(trx, { wallet: "text", sealed: "text", replaces: "integer" }, rows)} as input where true order by ord
    on conflict (wallet) do update set sealed = excluded.sealed, replaces_delegation =
      case when excluded.replaces_delegation = 1 then 1 else imported_keys.replaces_delegation end`
    .execute(trx)
    .catch(explainNoPrivilege);
  await sql`
    update wallets set watch_only = 0 where watch_only = 1 and address in ${textSet(trx, distinct.keys())}`.execute(
    trx,
  );
}

/** The wallets among the addresses for which the service signs, and where their keys come from. @throws KeyError */
export async function storedWallets(db: Db, addresses: readonly string[]): Promise<StoredWallet[]> {
  const found = await walletsAt(
    db,
    addresses.map((address) => ({ address })),
  );
  const wallets = [...found.values()].filter((wallet) => wallet.watch_only === 0);
  const imported = await keysOf(
    db,
    wallets.flatMap(({ address, path }) => (path === "" ? [address] : [])),
  );
  return wallets.map(({ address, app_id: appId, path }) => {
    const key = path === "" ? imported.get(address) : path;
    if (key === undefined)
      throw new KeyError(`wallet ${address} has no key: restore a backup, or import the key again`);
    return { appId, address, key };
  });
}

async function keysOf(db: Db, wallets: readonly string[]): Promise<Map<string, ImportedKey>> {
  if (wallets.length === 0) return new Map();
  const query = sql<{ wallet: string; sealed: string; replaces: number }>`
    select wallet, sealed, replaces_delegation as replaces from imported_keys where wallet in ${textSet(db, wallets)}`;
  const { rows } = await query.execute(db).catch(explainNoPrivilege);
  return new Map(rows.map(({ wallet, sealed, replaces }) => [wallet, { sealed, replacesDelegation: replaces === 1 }]));
}

function explainNoPrivilege(error: unknown): never {
  if (codeOf(error) !== NO_PRIVILEGE) throw error;
  throw new KeyError(
    "Only database users with the role moneta_relayer may use imported keys. Set DATABASE_URL to the URL of such a user.",
  );
}
