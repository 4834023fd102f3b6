import { sql } from "kysely";

import { applyRange, type BlockRange } from "../ledger/apply-range.ts";
import type { Db, Trx } from "../db/engine.ts";
import { insertCollection } from "../listings/collections.ts";
import { writeMeta } from "../db/meta.ts";
import { migrate } from "../db/migrate.ts";
import { toRequest } from "../requests/stored-request.ts";
import { openSqlite } from "../db/sqlite.ts";

/** A temporary database into which the chain is read again, for a comparison. */
export interface Scratch {
  db: Db;
  /** Stores a range as the indexer does, but without requests. */
  apply(range: BlockRange): Promise<void>;
  /** Adds the missing collections of `from`, in the state of their creation. */
  takeCollections(from: Db): Promise<void>;
  close(): Promise<void>;
}

/** @param startAt the block before the first one of the service. */
export async function openScratch(file: string, startAt: number): Promise<Scratch> {
  const { writer } = openSqlite(file, "create");
  try {
    await migrate(writer);
    // Its rows refer to requests of the real database.
    await sql`pragma foreign_keys = off`.execute(writer);
    await sql`pragma synchronous = off`.execute(writer);
    await write(writer, async (trx) => {
      await writeMeta(trx, "checkpoint", startAt.toString());
      await writeMeta(trx, "confirmed_block", startAt.toString());
    });
  } catch (error) {
    await writer.destroy();
    throw error;
  }
  return {
    db: writer,
    apply: (range) =>
      write(writer, async (trx) => {
        if (!(await applyRange(trx, range, { relayOwner: "" }, 0))) throw new Error("the ranges are not consecutive");
      }),
    takeCollections: (from) => takeCollections(writer, from),
    close: () => writer.destroy(),
  };
}

function write<T>(db: Db, operation: (trx: Trx) => Promise<T>): Promise<T> {
  return db.transaction().execute(operation);
}

async function takeCollections(db: Db, from: Db): Promise<void> {
  const last = await db.selectFrom("collections").select("address").execute();
  const known = new Set(last.map((row) => row.address));
  const rows = await from.selectFrom("collections").selectAll().orderBy("seq").execute();
  for (const row of rows.filter(({ address }) => !known.has(address))) {
    const request = toRequest(
      await from.selectFrom("requests").selectAll().where("id", "=", row.request_id).executeTakeFirstOrThrow(),
    );
    const { command } = request;
    if (command.kind !== "create-collection") throw new Error(`request ${request.id} made no collection`);
    const made = { address: row.address, owner: row.owner, blockNumber: row.block_number, createdAt: row.created_at };
    await write(db, (trx) => insertCollection(trx, request, command, made));
  }
}
