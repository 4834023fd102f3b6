import type { ContractAddresses } from "../chain/contracts.ts";
import type { ImportedKey } from "../domain/stored-wallet.ts";
import { holdApps } from "../store/apps/apps.ts";
import { storeImportedKeys } from "../store/apps/imported-keys.ts";
import { findWalletsOfUsers, insertWallets, type NewWallet, ownAmong, walletsAt } from "../store/apps/wallets.ts";
import type { Database } from "../store/db/database.ts";
import { InsertedMeanwhile } from "../store/db/errors.ts";
import { lockLedger, type Trx } from "../store/db/sql.ts";
import { noteForeignChange } from "../store/ledger/indexed-contracts.ts";
import { listHoldings } from "../store/ledger/listed-holdings.ts";
import { AppQuotas } from "./app-quotas.ts";

/** A user of an app, and the address (EIP-55) that the user has with a key that was made elsewhere. */
export interface UserAddress {
  /** null: the wallet has no user, or keeps the user that it has. Only with a key. */
  user: string | null;
  address: string;
  /** The key of the address; absent: the wallet is watch-only. The caller has compared the key with the address. */
  key?: ImportedKey;
}

/** What became of one. `completed`: a watch-only wallet has got its key. All but the first three are refusals. */
export type AdoptOutcome =
  | "added"
  | "completed"
  | "already_there"
  | "address_taken"
  | "has_another_user"
  | "user_identifier_taken"
  | "quota_exceeded";

/** Wallets of one commit. */
export const ADOPTED_AT_ONCE = 500;

/**
 * Makes wallets of an app, with their keys or watch-only, at most `ADOPTED_AT_ONCE`. The same call again changes nothing.
 * @returns what became of each, in their order.
 */
export function adoptWallets(
  database: Database,
  contracts: ContractAddresses,
  appId: string,
  users: readonly UserAddress[],
): Promise<AdoptOutcome[]> {
  return database.write(async (trx) => {
    // Blocks that are read at this moment do not know these wallets. The note makes the indexer read them again.
    await lockLedger(trx);
    const { outcomes, added } = await decide(trx, contracts, appId, users);
    const keys = users.flatMap(({ address, key }, index) =>
      key && isThere(outcomes[index]) ? [{ address, ...key }] : [],
    );
    const inserted = await insertWallets(trx, added, Date.now());
    if (inserted.size < added.length) throw new InsertedMeanwhile("another process has stored one of the wallets");
    await listHoldings(trx, "owner", inserted);
    if (keys.length > 0) await storeImportedKeys(trx, keys, Date.now());
    if (added.length > 0) await noteForeignChange(trx);
    return outcomes;
  });
}

/** Whether the app has the wallet now. */
export function isThere(outcome: AdoptOutcome | undefined): boolean {
  return outcome === "added" || outcome === "completed" || outcome === "already_there";
}

async function decide(
  trx: Trx,
  { relay, delegate, factories }: ContractAddresses,
  appId: string,
  users: readonly UserAddress[],
) {
  const quotas = await AppQuotas.lock(trx, await holdApps(trx, [appId]), [{ appId, needs: { wallets: 1 } }]);
  const stored = await walletsAt(trx, users);
  const taken = new Set([relay, delegate, ...factories.map(({ address }) => address), ...stored.keys()]);
  for (const address of await ownAmong(trx, users)) taken.add(address);
  const ofUsers = await findWalletsOfUsers(
    trx,
    users.flatMap(({ user }) => (user === null ? [] : [{ appId, userIdentifier: user }])),
  );
  // Wallets of the app whose keys do not come from the seed.
  const own = [...stored.values()].filter((wallet) => wallet.app_id === appId && wallet.path === "");
  const known = new Map(
    own.map((one) => [one.address, { user: one.user_identifier, watchOnly: one.watch_only === 1 }]),
  );
  const named = new Set(ofUsers.flatMap((wallet) => wallet?.user_identifier ?? []));
  const added: NewWallet[] = [];
  const outcomes = users.map(({ user, address, key }): AdoptOutcome => {
    const there = known.get(address);
    if (there !== undefined && (there.user === user || user === null)) {
      const completes = there.watchOnly && key !== undefined;
      if (completes) there.watchOnly = false;
      return completes ? "completed" : "already_there";
    }
    if (there !== undefined && key !== undefined) return "has_another_user";
    if (taken.has(address)) return "address_taken";
    if (user !== null && named.has(user)) return "user_identifier_taken";
    if (quotas.refusalOf(appId, { wallets: 1 }) !== null) return "quota_exceeded";
    quotas.add(appId, { wallets: 1 });
    added.push({ appId, userIdentifier: user, address, path: key === undefined ? null : "" });
    taken.add(address);
    if (user !== null) named.add(user);
    known.set(address, { user, watchOnly: key === undefined });
    return "added";
  });
  return { outcomes, added };
}
