import { rmSync } from "node:fs";

import { sql } from "kysely";

import { applyRange, type AttributedSlice } from "../ledger/apply-range.ts";
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

/**
 * Requests are not read again. Costs, reasons of failures and holdings of foreign contracts are not compared with these tables, and
 * the search for lost transactions came first.
 */
const LEFT_OUT = {
  batches: [],
  cancelled: [],
  relayOwner: "",
  foreignHoldings: [],
  reads: { answered: [], failed: [] },
  unknownTransaction: null,
};

/** A temporary database into which the chain is read again, for a comparison. */
export class Scratch {
  readonly db: Db;
  /** The newest collection that was copied. */
  #newest = 0;

  private constructor(db: Db) {
    this.db = db;
  }

  /**
   * Opens what an interrupted run has read, or begins anew when the file belongs to another run.
   * @param startAt the block before the first one of the service.
   */
  static async open(file: string, run: string, startAt: number): Promise<Scratch> {
    const db = (await reopen(file, run)) ?? (await create(file, run, startAt));
    // Its rows refer to requests of the real database.
    await sql`pragma foreign_keys = off`.execute(db);
    // A power cut may lose the last blocks, but leaves the file whole.
    await sql`pragma synchronous = normal`.execute(db);
    return new Scratch(db);
  }

  /** The last block that was read. */
  async last(): Promise<{ number: number; hash: string | null }> {
    const number = Number(await readMeta(this.db, "checkpoint"));
    return { number, hash: (await storedBlock(this.db, number))?.hash ?? null };
  }

  /**
   * Stores a slice as the indexer does, but without requests.
   * @returns false when the slice does not follow the last block: there was a reorg.
   */
  apply(slice: AttributedSlice): Promise<boolean> {
    return write(this.db, (trx) => applyRange(trx, { ...slice, ...LEFT_OUT }, 0));
  }

  /** Adds the missing collections of `from`, in the state of their creation. */
  async copyCollections(from: Db): Promise<void> {
    const read = (seq: number) =>
      from
        .selectFrom("collections")
        .selectAll()
        .where("adopted", "=", 0)
        .where("seq", ">", seq)
        .orderBy("seq")
        .limit(PAGE)
        .execute();
    for await (const page of pagesAfter(this.#newest, read, ({ seq }) => seq)) {
      await copyPage(this.db, from, page);
      this.#newest = page.at(-1)?.seq ?? this.#newest;
    }
  }

  close(): Promise<void> {
    return this.db.destroy();
  }
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
    if (sameTables && (await readMeta(writer, "scratch_of")) === run) return writer;
  } catch (error) {
    // A damaged file costs only the time to read the blocks again.
    const isDamaged = error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_");
    if (!(error instanceof DatabaseError) && !isDamaged) throw error;
  }
  await writer?.destroy();
  return null;
}

async function create(file: string, run: string, startAt: number): Promise<Db> {
  removeScratch(file);
  const { writer } = openSqlite(file, "create");
  await migrate(writer);
  await write(writer, async (trx) => {
    await writeMeta(trx, "scratch_of", run);
    for (const key of ["checkpoint", "confirmed_block"] as const) await writeMeta(trx, key, startAt.toString());
  });
  return writer;
}

function write<T>(db: Db, operation: (trx: Trx) => Promise<T>): Promise<T> {
  return db.transaction().execute(operation);
}

async function copyPage(db: Db, from: Db, page: CollectionRow[]): Promise<void> {
  const addresses = page.map((row) => row.address);
  const taken = await db.selectFrom("collections").select("address").where("address", "in", addresses).execute();
  const known = new Set(taken.map((row) => row.address));
  const ids = page.flatMap((row) => row.request_id ?? []);
  const requests = await from.selectFrom("requests").selectAll().where("id", "in", ids).execute();
  const byId = new Map(requests.map((row) => [row.id, toRequest(row)]));
  const missing = page
    .filter(({ address }) => !known.has(address))
    .map((row) => {
      const request = byId.get(row.request_id ?? "");
      if (request?.command.kind !== "create-collection")
        throw new Error(`no request made the collection ${row.address}`);
      const { address, owner, storage, block_number: blockNumber, created_at: createdAt } = row;
      const kind = { storage, signedBurns: row.signed_burns === 1 };
      return { request, command: request.command, address, owner, kind, blockNumber, createdAt };
    });
  await write(db, (trx) => insertCollections(trx, missing));
}
