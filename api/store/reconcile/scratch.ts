import { rmSync } from "node:fs";

import { sql } from "kysely";

import { applyRange, type BlockRange } from "../ledger/apply-range.ts";
import { storedBlock } from "../ledger/blocks.ts";
import { DatabaseError } from "../db/errors.ts";
import { pagesAfter } from "../db/pages.ts";
import type { Db, Trx } from "../db/sql.ts";
import { insertCollections } from "../listings/collections.ts";
import { readMeta, writeMeta } from "../db/meta.ts";
import { appliedMigrations, migrate, MIGRATIONS } from "../db/migrate.ts";
import { toRequest } from "../requests/requests.ts";
import { openSqlite } from "../db/sqlite/sqlite.ts";
import type { CollectionRow } from "../db/schema.ts";

/** Collections that one statement copies. */
const PAGE = 500;

/** A temporary database into which the chain is read again, for a comparison. */
export interface Scratch {
  db: Db;
  /** The last block that was read. */
  last(): Promise<{ number: number; hash: string | null }>;
  /**
   * Stores a range as the indexer does, but without requests.
   * @returns false when the range does not follow the last block: there was a reorg.
   */
  apply(range: BlockRange): Promise<boolean>;
  /** Adds the missing collections of `from`, in the state of their creation. */
  copyCollections(from: Db): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens what an interrupted run has read, or begins anew when the file belongs to another run.
 * @param startAt the block before the first one of the service.
 */
export async function openScratch(file: string, run: string, startAt: number): Promise<Scratch> {
  const writer = (await reopen(file, run)) ?? (await create(file, run, startAt));
  let newest = 0;
  return {
    db: writer,
    last: async () => {
      const number = Number(await readMeta(writer, "checkpoint"));
      return { number, hash: (await storedBlock(writer, number))?.hash ?? null };
    },
    apply: (range) =>
      write(writer, async (trx) => (await applyRange(trx, range, { relayOwner: "", kinds: new Map() }, 0)) !== null),
    copyCollections: async (from) => {
      newest = await copyCollections(writer, from, newest);
    },
    close: () => writer.destroy(),
  };
}

/** Deletes what was read. */
export function removeScratch(file: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
}

/** Null when the file does not exist, is damaged, belongs to another run, or has the tables of another version. */
async function reopen(file: string, run: string): Promise<Db | null> {
  let writer: Db | null = null;
  try {
    writer = openSqlite(file, "existing").writer;
    const sameTables = (await appliedMigrations(writer)).join() === Object.keys(MIGRATIONS).join();
    if (sameTables && (await readMeta(writer, "scratch_of")) === run) return await asScratch(writer);
  } catch (error) {
    // A damaged file costs only the time to read the blocks again.
    if (!(error instanceof DatabaseError) && !isSqliteError(error)) throw error;
  }
  await writer?.destroy();
  return null;
}

function isSqliteError(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_");
}

async function create(file: string, run: string, startAt: number): Promise<Db> {
  removeScratch(file);
  const { writer } = openSqlite(file, "create");
  try {
    await migrate(writer);
    await write(writer, async (trx) => {
      await writeMeta(trx, "scratch_of", run);
      await writeMeta(trx, "checkpoint", startAt.toString());
      await writeMeta(trx, "confirmed_block", startAt.toString());
    });
    return await asScratch(writer);
  } catch (error) {
    await writer.destroy();
    throw error;
  }
}

async function asScratch(writer: Db): Promise<Db> {
  // Its rows refer to requests of the real database.
  await sql`pragma foreign_keys = off`.execute(writer);
  // A power cut may lose the last blocks, but leaves the file whole.
  await sql`pragma synchronous = normal`.execute(writer);
  return writer;
}

function write<T>(db: Db, operation: (trx: Trx) => Promise<T>): Promise<T> {
  return db.transaction().execute(operation);
}

/** @param after the newest row that was taken. @returns the newest row that is taken now. */
async function copyCollections(db: Db, from: Db, after: number): Promise<number> {
  let newest = after;
  const read = (seq: number) =>
    from.selectFrom("collections").selectAll().where("seq", ">", seq).orderBy("seq").limit(PAGE).execute();
  for await (const page of pagesAfter(after, read, ({ seq }) => seq)) {
    await copyPage(db, from, page);
    newest = page.at(-1)?.seq ?? newest;
  }
  return newest;
}

async function copyPage(db: Db, from: Db, page: CollectionRow[]): Promise<void> {
  const addresses = page.map((row) => row.address);
  const taken = await db.selectFrom("collections").select("address").where("address", "in", addresses).execute();
  const known = new Set(taken.map((row) => row.address));
  const ids = page.map((row) => row.request_id);
  const requests = await from.selectFrom("requests").selectAll().where("id", "in", ids).execute();
  const byId = new Map(requests.map((row) => [row.id, toRequest(row)]));
  const missing = page
    .filter(({ address }) => !known.has(address))
    .map((row) => {
      const request = byId.get(row.request_id);
      if (request?.command.kind !== "create-collection")
        throw new Error(`request ${row.request_id} made no collection`);
      const { address, owner, storage, block_number: blockNumber, created_at: createdAt } = row;
      const kind = { storage, signedBurns: row.signed_burns === 1 };
      return { request, command: request.command, address, owner, kind, blockNumber, createdAt };
    });
  await write(db, (trx) => insertCollections(trx, missing));
}
