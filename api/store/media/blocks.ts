import { sql } from "kysely";

import { inPages } from "../../shared/at-once.ts";
import type { Database } from "../db/database.ts";
import { rowsAfter } from "../db/pages.ts";
import { forUpdate, rowSet, textSet, type Trx } from "../db/sql.ts";

type Access = Pick<Database, "read" | "write">;

/** Objects that are deleted in one transaction. Each has up to 2 MiB. */
const DELETED_AT_ONCE = 50;

/** The bytes of blocks in the database itself, one row for each object. */
export class DatabaseObjects {
  readonly name = "database";
  readonly #database: Access;

  constructor(database: Access) {
    this.#database = database;
  }

  async put(object: string, bytes: Uint8Array): Promise<void> {
    const row = { object, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
    await this.#database.write((trx) => trx.insertInto("media_bytes").values(row).execute());
  }

  async get(object: string): Promise<Uint8Array | null> {
    const search = this.#database.read.selectFrom("media_bytes").select("bytes").where("object", "=", object);
    return (await search.executeTakeFirst())?.bytes ?? null;
  }

  async delete(objects: readonly string[]): Promise<void> {
    for await (const some of inPages(objects, DELETED_AT_ONCE)) {
      await this.#database.write((trx) =>
        sql`delete from media_bytes where object in ${textSet(trx, some)}`.execute(trx),
      );
    }
  }

  /** The service cannot start without its database. */
  problem(): Promise<null> {
    return Promise.resolve(null);
  }
}

/** A block, and the object that has its bytes. */
interface IndexedBlock {
  cid: string;
  object: string;
  size: number;
}

/** Value of `quarantine` once the removal of a block is final. Any other value is the id of a running collection. */
const REMOVED = "removed";
/** Rows read at once, and blocks removed in one transaction. */
const PAGE = 1_000;
const REMOVED_AT_ONCE = 500;

/**
 * The index of blocks whose bytes are in objects: rows of the database, or objects in a bucket. One database can have the
 * indexes of two places while content moves.
 */
export class BlockIndex {
  readonly #database: Access;
  readonly #store: string;
  readonly #now: () => number;

  /** @param store names the place of the objects. */
  constructor(database: Access, store: string, now: () => number) {
    this.#database = database;
    this.#store = store;
    this.#now = now;
  }

  async find(cid: string): Promise<IndexedBlock | null> {
    return (await this.#readable().where("cid", "=", cid).executeTakeFirst()) ?? null;
  }

  /** Every block that can be read, in pages. */
  all(): AsyncGenerator<IndexedBlock> {
    const read = (after: string) => this.#readable().where("cid", ">", after).orderBy("cid").limit(PAGE).execute();
    return rowsAfter("", read, ({ cid }) => cid);
  }

  #readable() {
    const blocks = this.#database.read.selectFrom("media_blocks").select(["cid", "object", "size"]);
    return blocks.where("store", "=", this.#store).where("quarantine", "is", null);
  }

  /** Notes that a block was stored again, so that garbage collection keeps it. @returns null when it cannot be read. */
  async touch(cid: string): Promise<IndexedBlock | null> {
    const row = await this.#database.write((trx) =>
      this.#blocks(trx)
        .set({ stored_at: this.#now() })
        .where("cid", "=", cid)
        .where("quarantine", "is", null)
        .returning(["cid", "object", "size"])
        .executeTakeFirst(),
    );
    return row ?? null;
  }

  /** Records an object before it is uploaded. If the upload is never recorded, the object is removed later. */
  async announce(object: string): Promise<void> {
    const row = { store: this.#store, object, doomed: 0, created_at: this.#now() } as const;
    await this.#database.write((trx) => trx.insertInto("media_unused_objects").values(row).execute());
  }

  /**
   * Makes an uploaded object the bytes of a block. It takes the block out of a quarantine. An object that the block had before
   * is removed later.
   * @returns false when the announced object was given up meanwhile: it may be removed at any time.
   */
  record(block: IndexedBlock): Promise<boolean> {
    return this.#database.write((trx) => this.#record(trx, block));
  }

  async #record(trx: Trx, block: IndexedBlock): Promise<boolean> {
    const announced = await trx
      .deleteFrom("media_unused_objects")
      .where("store", "=", this.#store)
      .where("object", "=", block.object)
      .where("doomed", "=", 0)
      .executeTakeFirst();
    if (announced.numDeletedRows !== 1n) return false;
    const values = { ...block, stored_at: this.#now(), quarantine: null };
    for (;;) {
      const inserted = await trx
        .insertInto("media_blocks")
        .values({ store: this.#store, ...values })
        .onConflict((conflict) => conflict.columns(["store", "cid"]).doNothing())
        .executeTakeFirst();
      if (inserted.numInsertedOrUpdatedRows === 1n) return true;
      const search = trx.selectFrom("media_blocks").select("object").where("store", "=", this.#store);
      const row = search.where("cid", "=", block.cid).modifyEnd(forUpdate(trx));
      const previous = await row.executeTakeFirst();
      // A collection has removed it between the two statements.
      if (previous === undefined) continue;
      await this.#doom(trx, [previous.object]);
      await this.#blocks(trx).set(values).where("cid", "=", block.cid).execute();
      return true;
    }
  }

  async #doom(trx: Trx, objects: readonly string[]): Promise<void> {
    const rows = objects.map((object) => ({ object }));
    await sql`
      insert into media_unused_objects (store, object, doomed, created_at)
      select ${this.#store}, object, 1, ${this.#now()}
        from ${rowSet(trx, { object: "text" }, rows)} as input order by ord`.execute(trx);
  }

  /** Gives up uploads that began before `before`. A process that is still busy with one cannot record it any more. */
  async giveUpUploads(before: number): Promise<void> {
    await this.#database.write((trx) => {
      const late = trx.updateTable("media_unused_objects").set({ doomed: 1 }).where("store", "=", this.#store);
      return late.where("doomed", "=", 0).where("created_at", "<", before).execute();
    });
  }

  /** Objects that no block needs any more, a page at a time. Remove them, then forget them. */
  async doomed(): Promise<string[]> {
    const unused = this.#database.read.selectFrom("media_unused_objects").select("object");
    const doomed = unused.where("store", "=", this.#store).where("doomed", "=", 1).limit(PAGE);
    return (await doomed.execute()).map(({ object }) => object);
  }

  async forget(objects: readonly string[]): Promise<void> {
    await this.#database.write((trx) =>
      sql`
        delete from media_unused_objects
         where store = ${this.#store} and doomed = 1 and object in ${textSet(trx, objects)}`.execute(trx),
    );
  }

  /**
   * Quarantines blocks that were not stored since `before`.
   * @param collection `first`: the garbage collection begins, and ends any other, because only one runs at a time.
   * @returns those that were quarantined; null when another process has ended the collection.
   */
  quarantine(
    { id, first }: { id: string; first: boolean },
    cids: readonly string[],
    before: number,
  ): Promise<string[] | null> {
    return this.#database.write(async (trx) => {
      if (first) await this.#begin(trx, id);
      else if (!(await this.#isRunning(trx, id))) return null;
      const { rows } = await sql<{ cid: string }>`
        update media_blocks set quarantine = ${id}
         where store = ${this.#store} and quarantine is null and stored_at < ${before}
           and cid in ${textSet(trx, cids)}
        returning cid`.execute(trx);
      return rows.map(({ cid }) => cid);
    });
  }

  async #begin(trx: Trx, id: string): Promise<void> {
    // First: it waits for the transaction of another collection, whose blocks are then seen below, and restored.
    await trx
      .insertInto("media_collections")
      .values({ store: this.#store, id })
      .onConflict((conflict) => conflict.column("store").doUpdateSet({ id }))
      .execute();
    await this.#restoreAll(trx);
  }

  async quarantined(id: string): Promise<string[]> {
    const blocks = this.#database.read.selectFrom("media_blocks").select("cid").where("store", "=", this.#store);
    return (await blocks.where("quarantine", "=", id).execute()).map(({ cid }) => cid);
  }

  /** Restores a block of the collection. @returns false when it is not in its quarantine. */
  async restore(id: string, cid: string): Promise<boolean> {
    const restored = await this.#database.write((trx) => {
      const block = this.#blocks(trx).set({ quarantine: null }).where("quarantine", "=", id);
      return block.where("cid", "=", cid).executeTakeFirst();
    });
    return restored.numUpdatedRows > 0n;
  }

  /** Ends a garbage collection, or all of them, and restores their blocks. @returns how many blocks. */
  end(id: string | null = null): Promise<number> {
    return this.#database.write((trx) => this.#end(trx, id));
  }

  async #end(trx: Trx, id: string | null): Promise<number> {
    const collections = trx.deleteFrom("media_collections").where("store", "=", this.#store);
    await (id === null ? collections : collections.where("id", "=", id)).execute();
    return this.#restoreAll(trx, id);
  }

  /** @param id of the collection whose blocks are restored; null: of every one that runs or was given up. */
  async #restoreAll(trx: Trx, id: string | null = null): Promise<number> {
    const blocks = this.#blocks(trx).set({ quarantine: null });
    const theirs = blocks.where("quarantine", "is not", null).where("quarantine", "<>", REMOVED);
    const restored = await (id === null ? theirs : blocks.where("quarantine", "=", id)).executeTakeFirst();
    return Number(restored.numUpdatedRows);
  }

  /** Makes the removal of all quarantined blocks final. @returns false when another process has ended the collection. */
  confirm(id: string): Promise<boolean> {
    return this.#database.write(async (trx) => {
      if (!(await this.#isRunning(trx, id))) return false;
      await this.#blocks(trx).set({ quarantine: REMOVED }).where("quarantine", "=", id).execute();
      await trx.deleteFrom("media_collections").where("store", "=", this.#store).where("id", "=", id).execute();
      return true;
    });
  }

  /** Whether the collection was not ended by another process. Locks it until the transaction ends. */
  async #isRunning(trx: Trx, id: string): Promise<boolean> {
    const collections = trx.selectFrom("media_collections").select("id").where("store", "=", this.#store);
    const search = collections.where("id", "=", id).modifyEnd(forUpdate(trx));
    return (await search.executeTakeFirst()) !== undefined;
  }

  /** Removes some of the blocks whose removal is final, and dooms their objects. @returns what was removed. */
  removeConfirmed(): Promise<{ blocks: number; bytes: number }> {
    return this.#database.write(async (trx) => {
      const { rows } = await sql<{ object: string; size: number }>`
        delete from media_blocks
         where store = ${this.#store} and quarantine = ${REMOVED}
           and cid in (select cid from media_blocks where store = ${this.#store} and quarantine = ${REMOVED}
                        order by cid limit ${REMOVED_AT_ONCE})
        returning object, size`.execute(trx);
      const objects = rows.map(({ object }) => object);
      if (objects.length > 0) await this.#doom(trx, objects);
      return { blocks: rows.length, bytes: rows.reduce((sum, { size }) => sum + size, 0) };
    });
  }

  #blocks(trx: Trx) {
    return trx.updateTable("media_blocks").where("store", "=", this.#store);
  }
}
