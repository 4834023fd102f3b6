import { type DiskSpace, readDisk } from "../shared/folder.ts";
import { BlockStoreUnavailable } from "./block-store.ts";

/**
 * Reserves space on the disk of a folder for files that are being written. Some of the disk stays free for the database and the
 * logs: a full disk would stop the whole service. What other processes write is seen only once it is on the disk.
 */
export class DiskRoom {
  readonly #folder: string;
  readonly #keepFree: number;
  readonly #read: (folder: string) => Promise<DiskSpace>;
  /** Bytes that were promised and are not written yet. */
  #promised = 0;

  /**
   * @param folder exists.
   * @param keepFree bytes that stay free.
   * @param read replaced in tests.
   */
  constructor(folder: string, keepFree: number, read = readDisk) {
    this.#folder = folder;
    this.#keepFree = keepFree;
    this.#read = read;
  }

  /** Promises room for bytes. End it with `release`. @throws BlockStoreUnavailable when there is too little. */
  async reserve(bytes: number): Promise<void> {
    // Counted before the disk is read, so that two reservations at the same time do not get the same space.
    this.#promised += bytes;
    const enough = await this.#read(this.#folder).then(
      ({ free }) => free - this.#promised >= this.#keepFree,
      (error: unknown) => {
        this.#promised -= bytes;
        throw error;
      },
    );
    if (enough) return;
    this.#promised -= bytes;
    throw new BlockStoreUnavailable(
      `the disk of ${this.#folder} has no room for further media: ${this.#keepFree.toString()} bytes stay free (MIN_FREE_DISK_BYTES)`,
    );
  }

  /** The bytes are written, or are not needed any more. */
  release(bytes: number): void {
    this.#promised -= bytes;
  }
}
