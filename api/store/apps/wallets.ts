import { sql } from "kysely";

import { dayOf } from "../../domain/day.ts";
import { compiledSetQuery } from "../db/compiled-query.ts";
import { CounterDeltas, counterKeys, readCounter } from "../db/counters.ts";
import { type Db, rowSet, textSet, type Trx } from "../db/sql.ts";
import { DIRECTIONS, type Order, type Page, type PageQuery, pageOf, rowsToFetch, rowsToSkip } from "../db/pages.ts";
import { beginningOf, beginsWith } from "../db/prefix.ts";
import type { WalletRow } from "../db/schema.ts";

/** The app, and its name for the user; null: a wallet without a user. */
export interface WalletOwner {
  appId: string;
  userIdentifier: string | null;
}

/** A wallet that is not stored yet. */
export interface NewWallet extends WalletOwner {
  address: string;
  /** Of its key; null: the key is elsewhere, and the wallet is watch-only. Empty: it was imported. */
  path: string | null;
}

/** @returns the addresses of those that were inserted: an app has one wallet for each of its users. */
export async function insertWallets(trx: Trx, wallets: readonly NewWallet[], now: number): Promise<Set<string>> {
  if (wallets.length === 0) return new Set();
  const rows = wallets.map(({ address, appId, userIdentifier, path }) => ({
    address,
    app_id: appId,
    user_identifier: userIdentifier,
    path: path ?? "",
    watch_only: path === null ? 1 : 0,
    created_at: now,
  }));
  const columns = {
    address: "text",
    app_id: "text",
    user_identifier: "text",
    path: "text",
    watch_only: "integer",
    created_at: "integer",
  } as const;
  const inserted = await sql<{ address: string; app_id: string }>`
    insert into wallets (address, app_id, user_identifier, path, watch_only, created_at)
    select address, app_id, user_identifier, path, watch_only, created_at
      from ${rowSet(trx, columns, rows)} as input where true order by ord
    on conflict do nothing returning address, app_id`.execute(trx);
  const counters = new CounterDeltas();
  for (const { app_id } of inserted.rows) {
    counters.add(counterKeys.wallets(app_id), 1);
    counters.add(counterKeys.usage(app_id, dayOf(now), "wallets"), 1);
  }
  await counters.flush(trx);
  return new Set(inserted.rows.map(({ address }) => address));
}

/** @param wallets with the app's new names for their users; null: the wallet has no user any more. */
export async function setUserIdentifiers(
  trx: Trx,
  wallets: readonly Pick<WalletRow, "address" | "user_identifier">[],
): Promise<void> {
  const input = rowSet(trx, { address: "text", user_identifier: "text" }, wallets);
  await sql`
    update wallets set user_identifier = input.user_identifier
      from ${input} as input where wallets.address = input.address`.execute(trx);
}

const walletsByAddress = compiledSetQuery(
  { address: "text" },
  (input) => sql<WalletRow>`
    select wallets.* from ${input} as input join wallets on wallets.address = input.address`,
);

/** The wallets at addresses, of whatever app. */
export async function walletsAt(db: Db, places: readonly { address: string }[]): Promise<Map<string, WalletRow>> {
  const addresses = new Set(places.map(({ address }) => address));
  const rows = await walletsByAddress(
    db,
    Array.from(addresses, (address) => ({ address })),
  );
  return new Map(rows.map((row) => [row.address, row]));
}

/** The wallets of calls that arrive together, in their order. Undefined: there is none, or it belongs to another app. */
export async function findWallets(
  db: Db,
  calls: readonly { appId: string; address: string }[],
): Promise<(WalletRow | undefined)[]> {
  const found = await walletsAt(db, calls);
  return calls.map(({ appId, address }) => {
    const wallet = found.get(address);
    return wallet?.app_id === appId ? wallet : undefined;
  });
}

const walletsByUser = compiledSetQuery(
  { app_id: "text", user_identifier: "text" },
  (input) => sql<WalletRow & { ord: number }>`
    select wallets.*, input.ord from ${input} as input
      join wallets on wallets.app_id = input.app_id and wallets.user_identifier = input.user_identifier`,
);

/** The wallets of users, in the order of the calls. Undefined: the user has none. */
export async function findWalletsOfUsers(
  db: Db,
  calls: readonly { appId: string; userIdentifier: string }[],
): Promise<(WalletRow | undefined)[]> {
  const wanted = calls.map(({ appId, userIdentifier }) => ({ app_id: appId, user_identifier: userIdentifier }));
  const rows = await walletsByUser(db, wanted);
  const found = new Map(rows.map((row) => [row.ord, row]));
  return calls.map((_call, index) => found.get(index));
}

export async function listWallets(db: Db, appId: string, order: Order, page: PageQuery): Promise<Page<WalletRow>> {
  const total = await readCounter(db, counterKeys.wallets(appId));
  const { follows, direction } = DIRECTIONS[order];
  let query = db.selectFrom("wallets").selectAll().where("app_id", "=", appId);
  if (page.after !== null) query = query.where("seq", follows, page.after);
  const rows = await query.orderBy("seq", direction).limit(rowsToFetch(page)).offset(rowsToSkip(page)).execute();
  return pageOf(rows, total, page, (row) => row.seq);
}

/** Wallets whose user begins with a text, in the order of the users. */
export async function searchWallets(db: Db, appId: string, search: string, limit: number): Promise<WalletRow[]> {
  return (
    db
      .selectFrom("wallets")
      .selectAll()
      .where("app_id", "=", appId)
      // This alone lets the index of wallets with a user answer.
      .where("user_identifier", "is not", null)
      .where(beginsWith("user_identifier", search))
      .orderBy(beginningOf("user_identifier"))
      .orderBy("seq")
      .limit(limit)
      .execute()
  );
}

/** Those of the addresses that are wallets of the service for which it signs. */
export async function signingWallets(db: Db, addresses: readonly string[]): Promise<Set<string>> {
  const wallets = await walletsAt(
    db,
    addresses.map((address) => ({ address })),
  );
  return new Set([...wallets.values()].filter((one) => one.watch_only === 0).map(({ address }) => address));
}

/** Those of the wallets of which it is certain that they have delegated. */
export async function delegatedAmong(db: Db, wallets: string[]): Promise<Set<string>> {
  if (wallets.length === 0) return new Set();
  const { rows } = await sql<{ address: string }>`
    select address from wallets where delegated = 1 and address in ${textSet(db, wallets)}`.execute(db);
  return new Set(rows.map(({ address }) => address));
}

/** The app of each address that is a wallet of the service. */
export async function walletApps(db: Db, addresses: readonly string[]): Promise<Map<string, string>> {
  if (addresses.length === 0) return new Map();
  const { rows } = await sql<{ address: string; app_id: string }>`
    select address, app_id from wallets where address in ${textSet(db, addresses)}`.execute(db);
  return new Map(rows.map((row) => [row.address, row.app_id]));
}

/** Those of the addresses that the service uses itself: its collections and lanes. */
export async function ownAmong(db: Db, places: readonly { address: string }[]): Promise<Set<string>> {
  const addresses = places.map(({ address }) => address);
  const { rows } = await sql<{ address: string }>`
    select address from collections where adopted = 0 and address in ${textSet(db, addresses)}
    union select address from lanes where address in ${textSet(db, addresses)}`.execute(db);
  return new Set(rows.map(({ address }) => address));
}
