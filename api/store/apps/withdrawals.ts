import { sql } from "kysely";

import type { Tables } from "../db/schema.ts";
import { type Db, forNoKeyUpdate, textSet, type Trx } from "../db/sql.ts";

/** A signed transaction that moves coins out of a wallet: a version of a withdrawal. All versions of one have its nonce. */
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

/** All versions of a withdrawal, the newest first. */
export type Versions = [Withdrawal, ...Withdrawal[]];

/** The withdrawals of these wallets that are not final, by wallet. A wallet has one at most. */
export async function openWithdrawals(db: Db, wallets: readonly string[]): Promise<Map<string, Versions>> {
  const found = new Map<string, Versions>();
  if (wallets.length === 0) return found;
  const rows = await db
    .selectFrom("withdrawals")
    .select(["wallet", "to_address as to", "value_wei as value", "nonce", "hash", "raw"])
    .where(sql<boolean>`wallet in ${textSet(db, wallets)}`)
    .where("status", "=", "open")
    .orderBy("id")
    .execute();
  for (const { value, ...row } of rows)
    found.set(row.wallet, [{ ...row, value: BigInt(value) }, ...(found.get(row.wallet) ?? [])]);
  return found;
}

/**
 * Stores a signed withdrawal, which may be broadcast only after the commit. No lane claims requests while this decides. A lane that
 * claims requests of the wallet later sees the withdrawal.
 * @param before the hash of the version that it replaces; undefined: the wallet must have no withdrawal that is open.
 * @returns null; or what is being sent of the wallet, and may use the nonce. Then nothing is stored.
 */
export async function recordWithdrawal(
  trx: Trx,
  { wallet, to, value, ...signed }: Withdrawal,
  before: string | undefined,
  now: number,
): Promise<string | null> {
  await trx.selectFrom("lanes").select("lane").orderBy("lane").modifyEnd(forNoKeyUpdate(trx)).execute();
  const open = (await openWithdrawals(trx, [wallet])).get(wallet);
  if (open?.[0].hash !== before) return "Another withdrawal";
  // The condition of the index: a lane has claimed it, and until it is final it may use a nonce of the wallet.
  const { rows } = await sql<{ id: string }>`
    select id from requests where from_address = ${wallet} and ready_at is null and status in ('pending', 'processing')
     limit 1`.execute(trx);
  if (before === undefined && rows[0] !== undefined) return `Request ${rows[0].id}`;
  const row = { wallet, to_address: to, value_wei: value.toString(), status: "open", created_at: now } as const;
  const insert = trx.insertInto("withdrawals").values({ ...row, ...signed });
  await insert.execute();
  return null;
}

/** Stores how a withdrawal ended. @param mined the hash of the version that the chain took: the others are `replaced`. */
export async function endWithdrawal(
  trx: Trx,
  [{ wallet, nonce }]: Versions,
  { status, mined }: { status: Tables["withdrawals"]["status"]; mined: string | null },
): Promise<void> {
  await sql`
    update withdrawals set status = case when hash = ${mined} then ${status} else 'replaced' end
     where wallet = ${wallet} and nonce = ${nonce}`.execute(trx);
}

/** The next nonces of those of the wallets that have used some for withdrawals. */
export async function noncesAfterWithdrawals(db: Db, wallets: readonly string[]): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom("withdrawals")
    .select(["wallet", ({ fn }) => fn.max<number>("nonce").as("last")])
    .where(sql<boolean>`wallet in ${textSet(db, wallets)}`)
    .where("status", "<>", "open")
    .groupBy("wallet")
    .execute();
  return new Map(rows.map(({ wallet, last }) => [wallet, last + 1]));
}
