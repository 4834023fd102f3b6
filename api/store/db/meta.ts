import { type RawBuilder, sql } from "kysely";
import { z } from "zod";

import { parseJson } from "../../shared/text.ts";
import { compiledQuery } from "./compiled-query.ts";
import { DatabaseError } from "./errors.ts";
import { type Db, engineOf, type Trx } from "./sql.ts";

/** A PostgreSQL database has this table while a backup is restored into it. On SQLite a file gets its name at the end. */
export const UNFINISHED_RESTORE = "unfinished_restore";

/** @throws DatabaseError when a restore into the database has not ended. */
export async function requireRestoreFinished(db: Db): Promise<void> {
  if (engineOf(db) !== "postgres") return;
  const { rows } = await sql<{ found: number }>`
    select to_regclass(${UNFINISHED_RESTORE}) is not null as found`.execute(db);
  if (rows[0]?.found !== 1) return;
  throw new DatabaseError(
    "A restore into this database has not ended. Wait for it. If it was interrupted, run the same `npm run cli -- restore` again.",
  );
}

/** Facts about the database, kept as text. */
export type MetaKey =
  /** Chain id, decimal. */
  | "chain_id"
  /** Hash of block 0. */
  | "genesis"
  /** SHA-256 of the wallets' extended public key, hex. It identifies the seed. */
  | "wallets_key"
  /** SHA-256 of the public key of the seed to which imported keys are encrypted, hex. */
  | "import_key"
  /** The newest imported key that a backup has: its `id`. */
  | "imported_keys_saved"
  /** The addresses of the service's contracts, as JSON. */
  | "contracts"
  /** Last block whose events are stored. */
  | "checkpoint"
  /** Last block that is deep enough for final statuses. */
  | "confirmed_block"
  /** Where the events of tokens have come to: see `ledger/token-events.ts`. */
  | "token_events_to"
  /** The newest block whose movements get no events: see `skipTokenEvents` there. */
  | "token_events_skipped_to"
  /** The first row of the history that no listing shows: its block is being stored or removed in several commits. */
  | "history_hidden_from"
  /** How often collections were removed by a reorg. */
  | "collections_removed"
  /** How often the followed foreign contracts changed. */
  | "foreign_version"
  /** What calls cost on the chain, as JSON. */
  | "gas_measurement"
  /** Hash of the last transaction in which a call ran out of gas. */
  | "gas_shortage"
  /** Hash of a lane's transaction on chain that this database does not know. Nothing is sent while there is one. */
  | "unknown_transaction"
  /** Its block. Absent in a mark of 0.3.0. */
  | "unknown_transaction_block"
  /** What the lanes had sent when the operator said that this is a new installation with an old seed: nonces by address, as JSON. */
  | "reused_lanes"
  /** The first block with logs whose receipts were proven: on this chain they can be. */
  | "receipts_proven"
  /** Hash of the first block whose receipts a node gave at once. */
  | "receipts_at_once"
  /** Why a block could not be proven. Set while there are such blocks. */
  | "receipts_unproven"
  /** What keeps the indexer from following the chain, a `StoredReason`. Absent: nothing. */
  | "indexer_waits_for"
  /** The run of `reconcile` that has not ended, as JSON. */
  | "reconcile"
  /** In the temporary database of a run of `reconcile`: the run's id. */
  | "scratch_of"
  /** Name of the block store that has the hosted content. */
  | "media_store"
  /** Set while encrypted values that name no row are accepted: an earlier version wrote some, and `keys rotate` has not run since. */
  | "unbound_values"
  /** Name of the block store that a move of the content has not copied completely. */
  | "media_moving_from";

const valueOf = compiledQuery((db, { key }: Record<"key", MetaKey>) =>
  db.selectFrom("meta").select("value").where("key", "=", key),
);

export async function readMeta(db: Db, key: MetaKey): Promise<string | null> {
  const [row] = await valueOf(db, { key });
  return row?.value ?? null;
}

/** The last block whose logs are stored. */
export async function checkpointOf(db: Db): Promise<number> {
  return Number((await readMeta(db, "checkpoint")) ?? 0);
}

/** Newest block that is deep enough to be final; -1 when there is none. */
export async function confirmedBlock(db: Db): Promise<number> {
  return Number((await readMeta(db, "confirmed_block")) ?? -1);
}

/** A block that is a fact about the database, for a statement. */
export function blockOf(key: "checkpoint" | "confirmed_block"): RawBuilder<number | null> {
  return sql<number | null>`(select cast(value as bigint) from meta where key = ${sql.lit(key)})`;
}

/** For a statement: 1 when a block is final, else 0. */
export function isFinalBlock(block: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`case when ${block} <= ${blockOf("confirmed_block")} then 1 else 0 end`;
}

/** Whether encrypted values of earlier versions, which name no row, are accepted. A database of this version never does. */
export async function acceptsUnboundValues(db: Db): Promise<boolean> {
  return (await readMeta(db, "unbound_values")) !== null;
}

export async function writeMeta(trx: Trx, key: MetaKey, value: string): Promise<void> {
  await trx
    .insertInto("meta")
    .values({ key, value })
    .onConflict((conflict) => conflict.column("key").doUpdateSet({ value }))
    .execute();
}

/** Writes the value unless there is one. @returns the value that is stored. */
export async function writeMetaOnce(trx: Trx, key: MetaKey, value: string): Promise<string> {
  await trx
    .insertInto("meta")
    .values({ key, value })
    .onConflict((conflict) => conflict.column("key").doNothing())
    .execute();
  return (await readMeta(trx, key)) ?? value;
}

export async function deleteMeta(trx: Trx, key: MetaKey): Promise<void> {
  await trx.deleteFrom("meta").where("key", "=", key).execute();
}

/** The addresses of the service's contracts; null when none are stored. @throws DatabaseError when they are damaged */
export async function readContracts<T>(db: Db, schema: z.ZodType<T>): Promise<T | null> {
  const text = await readMeta(db, "contracts");
  if (text === null) return null;
  const parsed = schema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new DatabaseError(
    `The addresses of the contracts in the database (table meta, key contracts) are damaged. Correct them, or restore a backup. ` +
      `Nothing was changed.\n${z.prettifyError(parsed.error)}`,
  );
}

export async function writeContracts(trx: Trx, contracts: object): Promise<void> {
  await writeMeta(trx, "contracts", JSON.stringify(contracts));
}

/** @returns false when the value is not `from`: another process has changed it. */
export async function replaceMeta(trx: Trx, key: MetaKey, from: string, to: string): Promise<boolean> {
  const updated = await trx
    .updateTable("meta")
    .set({ value: to })
    .where("key", "=", key)
    .where("value", "=", from)
    .executeTakeFirst();
  return updated.numUpdatedRows === 1n;
}

/** How many keys of wallets were imported, the newest, and to what they are encrypted: see `imported_keys_saved`, `import_key`. */
export async function importedKeysOf(db: Db): Promise<{ count: number; newest: number; import_key: string | null }> {
  const { rows } = await sql<{ count: number; newest: number }>`
    select count(*) as count, coalesce(max(id), 0) as newest from imported_keys`.execute(db);
  return { ...(rows[0] ?? { count: 0, newest: 0 }), import_key: await readMeta(db, "import_key") };
}
