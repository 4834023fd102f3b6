import { join } from "node:path";

import type { MediaStoreSetting } from "../../config/media-store.ts";
import { inPages } from "../../shared/at-once.ts";
import type { Database } from "../../store/db/database.ts";
import { deleteBytes, insertBytes, readBytes } from "../../store/media/blocks.ts";
import { BlockFiles, DiskReserve } from "../block-files.ts";
import type { BlockStore } from "../block-store.ts";
import { IndexedBlocks, type ObjectStore } from "./indexed-blocks.ts";
import { S3Objects } from "./s3-objects.ts";

/**
 * Opens a block store. Nothing is created or checked yet.
 * @param keepFree bytes of the disk of `dataDir` that new blocks leave free; null: they may fill it.
 */
export function openBlocks(
  setting: MediaStoreSetting,
  { dataDir, database, keepFree = null }: { dataDir: string; database: Database; keepFree?: number | null },
): BlockStore {
  const local = new BlockFiles(join(dataDir, "blocks"), keepFree === null ? null : new DiskReserve(dataDir, keepFree));
  if (setting.kind === "files") return local;
  const objects = setting.kind === "database" ? new DatabaseObjects(database) : new S3Objects(setting.bucket);
  return new IndexedBlocks({ database, objects, local, now: () => Date.now() });
}

/** Objects that are deleted in one transaction. Each has up to 2 MiB. */
const AT_ONCE = 50;

/** Bytes of blocks in the database. */
class DatabaseObjects implements ObjectStore {
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
    for await (const some of inPages(objects, AT_ONCE)) await this.#database.write((trx) => deleteBytes(trx, some));
  }

  /** The service cannot start without its database. */
  problem(): Promise<null> {
    return Promise.resolve(null);
  }
}
