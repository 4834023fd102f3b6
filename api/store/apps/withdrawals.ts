import { sql } from "kysely";

import type { WithdrawalOutcome } from "../../domain/withdrawal.ts";
import { type Db, textSet, type Trx } from "../db/sql.ts";

/** Milliseconds after which a withdrawal that was begun and never signed is over: the command was interrupted. */
const UNSIGNED = 600_000;

/** What is to be moved. */
export interface WithdrawalOrder {
  wallet: string;
  to: string;
  /** In wei. */
  value: bigint;
}

interface Transaction {
  nonce: number;
  hash: string;
  /** The signed bytes, 0x-hex. */
  raw: string;
}

export interface OpenWithdrawal extends WithdrawalOrder {
  id: number;
  /** null: it is not signed yet. */
  transaction: Transaction | null;
}

/** Withdrawals of these wallets that are not final. */
export async function openWithdrawals(db: Db, wallets: readonly string[], now: number): Promise<OpenWithdrawal[]> {
  if (wallets.length === 0) return [];
  const rows = await db
    .selectFrom("withdrawals")
    .selectAll()
    .where(sql<boolean>`wallet in ${textSet(db, wallets)}`)
    .where("status", "=", sql.lit("open"))
    .where((where) => where.or([where("hash", "is not", null), where("created_at", ">", now - UNSIGNED)]))
    .execute();
  return rows.map(({ id, wallet, to_address: to, value_wei: value, nonce, hash, raw }) => {
    const transaction = nonce === null || hash === null || raw === null ? null : { nonce, hash, raw };
    return { id, wallet, to, value: BigInt(value), transaction };
  });
}

/**
 * Keeps the requests of a wallet from being sent, in a commit of its own: a lane that claims one after that sees it, and one that
 * was claimed before is seen by `recordWithdrawal`.
 * @returns its id; null: the wallet has an open withdrawal.
 */
export async function beginWithdrawal(
  trx: Trx,
  { wallet, to, value }: WithdrawalOrder,
  now: number,
): Promise<number | null> {
  await trx.deleteFrom("withdrawals").where("wallet", "=", wallet).where("hash", "is", null).execute();
  const begun = await trx
    .insertInto("withdrawals")
    .values({ wallet, to_address: to, value_wei: value.toString(), status: "open", created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst();
  return begun?.id ?? null;
}

/**
 * Stores the signed transaction. It may be broadcast only after the commit.
 * @returns the id of a request of the wallet that is being sent, or `gone` when the command took too long; null: it is stored.
 */
export async function recordWithdrawal(
  trx: Trx,
  { id, wallet, now, ...transaction }: Transaction & { id: number; wallet: string; now: number },
): Promise<string | null> {
  // A request that a lane has claimed may use a nonce of the wallet, until it is final.
  const busy = await trx
    .selectFrom("requests")
    .innerJoin("wallets", "wallets.app_id", "requests.app_id")
    .select("requests.id")
    .where("wallets.address", "=", wallet)
    .where("requests.from_address", "=", wallet)
    .where("requests.status", "in", ["pending", "processing"])
    .where((where) => where.or([where("requests.lane", "is not", null), where("requests.batch_id", "is not", null)]))
    .executeTakeFirst();
  if (busy !== undefined) return busy.id;
  const stored = await trx
    .updateTable("withdrawals")
    .set(transaction)
    .where("id", "=", id)
    // Half of the time, so that clocks may differ.
    .where("created_at", ">", now - UNSIGNED / 2)
    .executeTakeFirst();
  return stored.numUpdatedRows === 1n ? null : "gone";
}

/** Stores another version of an open withdrawal, with the same nonce. @returns its id. */
export async function replaceWithdrawal(
  trx: Trx,
  before: number,
  { wallet, to, value, ...transaction }: WithdrawalOrder & Transaction,
  now: number,
): Promise<number> {
  await endWithdrawal(trx, before, "replaced");
  const row = { wallet, to_address: to, value_wei: value.toString(), status: "open", created_at: now } as const;
  const { id } = await trx
    .insertInto("withdrawals")
    .values({ ...row, ...transaction })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

/** Removes a withdrawal that was never signed. */
export async function dropWithdrawal(trx: Trx, id: number): Promise<void> {
  await trx.deleteFrom("withdrawals").where("id", "=", id).where("hash", "is", null).execute();
}

export async function endWithdrawal(trx: Trx, id: number, outcome: WithdrawalOutcome): Promise<void> {
  await trx.updateTable("withdrawals").set({ status: outcome }).where("id", "=", id).execute();
}

/** The next nonces of those of the wallets that have used some for withdrawals. */
export async function noncesAfterWithdrawals(db: Db, wallets: readonly string[]): Promise<Map<string, number>> {
  if (wallets.length === 0) return new Map();
  const rows = await db
    .selectFrom("withdrawals")
    .select(["wallet", ({ fn }) => fn.max("nonce").as("last")])
    .where(sql<boolean>`wallet in ${textSet(db, wallets)}`)
    .where("status", "<>", "open")
    .groupBy("wallet")
    .execute();
  return new Map(rows.flatMap(({ wallet, last }) => (last === null ? [] : [[wallet, last + 1] as const])));
}
