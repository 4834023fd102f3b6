import { sql } from "kysely";

import type { WithdrawalOutcome } from "../../domain/withdrawal.ts";
import { type Db, forUpdate, textSet, type Trx } from "../db/sql.ts";
import { lockApp } from "./apps.ts";

/** Coins that leave a wallet, with the signed transaction that moves them. */
export interface Withdrawal {
  wallet: string;
  to: string;
  /** In wei. */
  value: bigint;
  nonce: number;
  hash: string;
  /** The signed bytes, 0x-hex. */
  raw: string;
}

export interface RecordedWithdrawal extends Withdrawal {
  id: number;
}

/** Withdrawals of these wallets that are not final. */
export async function openWithdrawals(db: Db, wallets: readonly string[]): Promise<RecordedWithdrawal[]> {
  if (wallets.length === 0) return [];
  const rows = await db
    .selectFrom("withdrawals")
    .select(["id", "wallet", "to_address as to", "value_wei as value", "nonce", "hash", "raw"])
    .where(sql<boolean>`wallet in ${textSet(db, wallets)}`)
    .where("status", "=", sql.lit("open"))
    .execute();
  return rows.map((row) => ({ ...row, value: BigInt(row.value) }));
}

/**
 * Stores a signed withdrawal, which may be broadcast only after the commit. From the commit on, a lane that claims requests of the
 * wallet sees it. No request can be accepted or claimed while this decides.
 * @param before the open withdrawal with the same nonce that it replaces; null: there is none.
 * @returns its id; or a request of the wallet that is being sent, or another withdrawal that is open. Then nothing is stored.
 */
export async function recordWithdrawal(
  trx: Trx,
  { wallet, to, value, ...transaction }: Withdrawal,
  before: number | null,
  now: number,
): Promise<{ id: number } | { busy: string }> {
  if (before !== null) await endWithdrawal(trx, before, "replaced");
  else {
    const busy = await requestUnderWay(trx, wallet);
    if (busy !== undefined) return { busy };
  }
  const row = { wallet, to_address: to, value_wei: value.toString(), status: "open", created_at: now } as const;
  const recorded = await trx
    .insertInto("withdrawals")
    .values({ ...row, ...transaction })
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst();
  return recorded ?? { busy: "another withdrawal" };
}

/** A request of the wallet that a lane has claimed: until it is final, it may use a nonce of the wallet. */
async function requestUnderWay(trx: Trx, wallet: string): Promise<string | undefined> {
  const owner = await trx.selectFrom("wallets").select("app_id").where("address", "=", wallet).executeTakeFirst();
  const appId = owner?.app_id ?? "";
  await lockApp(trx, appId);
  const requests = await trx
    .selectFrom("requests")
    .select(["id", "lane", "batch_id"])
    .where("app_id", "=", appId)
    .where("from_address", "=", wallet)
    .where("status", "in", ["pending", "processing"])
    .modifyEnd(forUpdate(trx))
    .execute();
  return requests.find(({ lane, batch_id: batch }) => lane !== null || batch !== null)?.id;
}

export async function endWithdrawal(trx: Trx, id: number, outcome: WithdrawalOutcome): Promise<void> {
  await trx.updateTable("withdrawals").set({ status: outcome }).where("id", "=", id).execute();
}

/** The next nonces of those of the wallets that have used some for withdrawals. */
export async function noncesAfterWithdrawals(db: Db, wallets: readonly string[]): Promise<Map<string, number>> {
  if (wallets.length === 0) return new Map();
  const rows = await db
    .selectFrom("withdrawals")
    .select(["wallet", ({ fn }) => fn.max<number>("nonce").as("last")])
    .where(sql<boolean>`wallet in ${textSet(db, wallets)}`)
    .where("status", "<>", "open")
    .groupBy("wallet")
    .execute();
  return new Map(rows.map(({ wallet, last }) => [wallet, last + 1]));
}
