import type { ContractAddresses } from "../chain/contracts.ts";
import { holdApps } from "../store/apps/apps.ts";
import { findWalletsOfUsers, insertWallets, type NewWallet, ownAmong, walletsAt } from "../store/apps/wallets.ts";
import type { Database } from "../store/db/database.ts";
import { InsertedMeanwhile } from "../store/db/errors.ts";
import { lockLedger, type Trx } from "../store/db/sql.ts";
import { noteForeignChange } from "../store/ledger/indexed-contracts.ts";
import { listHoldingsOf } from "../store/ledger/listed-holdings.ts";
import { AppQuotas } from "./app-quotas.ts";

/** A user of an app, and the address (EIP-55) that the user has with a key of the user's own. */
export interface UserAddress {
  user: string;
  address: string;
}

/** What became of one. All but the first two are refusals. */
export type AdoptOutcome = "added" | "already_there" | "address_taken" | "user_identifier_taken" | "quota_exceeded";

/** Wallets of one commit. */
export const ADOPTED_AT_ONCE = 500;

/**
 * Makes watch-only wallets of an app, at most `ADOPTED_AT_ONCE`. The same call again changes nothing.
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
    if (added.length === 0) return outcomes;
    const inserted = await insertWallets(trx, added, Date.now());
    if (inserted.size < added.length) throw new InsertedMeanwhile("another process has stored one of the wallets");
    await listHoldingsOf(trx, inserted);
    await noteForeignChange(trx);
    return outcomes;
  });
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
    users.map(({ user }) => ({ appId, userIdentifier: user })),
  );
  const own = [...stored.values()].filter((wallet) => wallet.app_id === appId && wallet.watch_only === 1);
  const adopted = new Map(own.map((wallet) => [wallet.address, wallet.user_identifier]));
  const named = new Set(ofUsers.flatMap((wallet) => wallet?.user_identifier ?? []));
  const added: NewWallet[] = [];
  const outcomes = users.map(({ user, address }): AdoptOutcome => {
    if (adopted.get(address) === user) return "already_there";
    if (taken.has(address)) return "address_taken";
    if (named.has(user)) return "user_identifier_taken";
    if (quotas.refusalOf(appId, { wallets: 1 }) !== null) return "quota_exceeded";
    quotas.add(appId, { wallets: 1 });
    added.push({ appId, userIdentifier: user, address, path: null });
    taken.add(address);
    named.add(user);
    adopted.set(address, user);
    return "added";
  });
  return { outcomes, added };
}
