import type { Db, Trx } from "./engine.ts";

/** The facts that `meta` holds. */
export type MetaKey =
  /** Chain id, decimal. */
  | "chain_id"
  /** Hash of block 0. */
  | "genesis"
  /** `ContractAddresses`, JSON. */
  | "contracts"
  /** SHA-256 of the wallets' extended public key, hex: which seed made the wallets. */
  | "wallets_key"
  /** Last block whose events are stored. */
  | "checkpoint"
  /** Last block that is deep enough for final statuses. */
  | "confirmed_block";

export async function readMeta(db: Db, key: MetaKey): Promise<string | null> {
  const row = await db.selectFrom("meta").select("value").where("key", "=", key).executeTakeFirst();
  return row?.value ?? null;
}

export async function writeMeta(trx: Trx, key: MetaKey, value: string): Promise<void> {
  await trx
    .insertInto("meta")
    .values({ key, value })
    .onConflict((conflict) => conflict.column("key").doUpdateSet({ value }))
    .execute();
}

/** @returns false when the value is another one: somebody else was faster. */
export async function replaceMeta(trx: Trx, key: MetaKey, from: string, to: string): Promise<boolean> {
  const updated = await trx
    .updateTable("meta")
    .set({ value: to })
    .where("key", "=", key)
    .where("value", "=", from)
    .executeTakeFirst();
  return updated.numUpdatedRows === 1n;
}
