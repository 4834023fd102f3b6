import type { Database } from "../store/db/database.ts";
import { deleteBytes, insertBytes, readBytes } from "../store/media/block-bytes.ts";
import type { ObjectStore } from "./object-store.ts";

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
