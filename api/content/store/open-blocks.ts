import { join } from "node:path";
import type { MediaStoreSetting } from "../../config/media-store.ts";
import type { Database } from "../../store/db/database.ts";
import { deleteBytes, insertBytes, readBytes } from "../../store/media/blocks.ts";
import { BlockFiles } from "../block-files.ts";
import type { BlockStore } from "../block-store.ts";
import { DiskRoom } from "../disk-room.ts";
import { IndexedBlocks, type ObjectStore } from "./indexed-blocks.ts";
import { S3Objects } from "./s3-objects.ts";

/**
 * Opens a block store. Nothing is created or checked yet.
 * @param keepFree bytes of the disk of `dataDir` that new blocks leave free; null: they may fill it.
 */
export function openBlocks(
  setting: MediaStoreSetting,
  { dataDir, database, keepFree = null }: { dataDir: string; database: Database; keepFree?: number | null },
): { blocks: BlockStore; close: () => Promise<void> } {
  const local = new BlockFiles(join(dataDir, "blocks"), keepFree === null ? null : new DiskRoom(dataDir, keepFree));
  const indexed = (objects: ObjectStore) => new IndexedBlocks({ database, objects, local, now: () => Date.now() });
  switch (setting.kind) {
    case "files":
      return { blocks: local, close: () => Promise.resolve() };
    case "database":
      return { blocks: indexed(new DatabaseObjects(database)), close: () => Promise.resolve() };
    case "s3": {
      const objects = new S3Objects(setting.bucket);
      return { blocks: indexed(objects), close: () => objects.close() };
    }
  }
}

/** Objects that are deleted in one transaction. Each has up to 1 MiB. */
const AT_ONCE = 50;

/** Bytes of blocks in the database. */
export class DatabaseObjects implements ObjectStore {
  readonly name = "database";
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  put(object: string, bytes: Uint8Array): Promise<void> {
    return this.#database.write((trx) => insertBytes(trx, object, bytes));
  }

  get(object: string): Promise<Uint8Array | null> {
    return readBytes(this.#database.read, object);
  }

  async delete(objects: readonly string[]): Promise<void> {
    for (let at = 0; at < objects.length; at += AT_ONCE) {
      const some = objects.slice(at, at + AT_ONCE);
      await this.#database.write((trx) => deleteBytes(trx, some));
    }
  }

  /** The service cannot start without its database. */
  problem(): Promise<null> {
    return Promise.resolve(null);
  }
}
