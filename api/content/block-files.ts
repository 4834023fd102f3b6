import { randomUUID } from "node:crypto";
import type { Dirent } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, rmdir, stat, unlink, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { CID } from "multiformats/cid";

import { type DiskSpace, isAbsent, readDisk, unlessAbsent } from "../shared/folder.ts";
import {
  BlockCorrupt,
  BlockMissing,
  type BlockStore,
  BlockStoreUnavailable,
  hasDigest,
  type Quarantine,
  QuarantineTakenOver,
  type StoredBlock,
} from "./block-store.ts";
import { canonicalCid, parseCid } from "./cids.ts";

const DRAFTS = "drafts";
/** Length of the names of the folders that hold blocks. No other folder here has a name of this length. */
const FOLDER_NAME_LENGTH = 2;

/**
 * Blocks as files, each named by its CID. The same bytes are stored once, files never change, and every read is checked
 * against the CID. Any number of processes may share the folder.
 */
export class BlockFiles implements BlockStore {
  readonly name = "files";
  readonly #folder: string;
  readonly #space: DiskReserve | null;
  /** Bytes that are reserved for the next blocks of this draft. */
  #expected = 0;

  /** @param space for new blocks; null: they may fill the disk. */
  constructor(folder: string, space: DiskReserve | null = null) {
    this.#folder = folder;
    this.#space = space;
  }

  /** Stores a block. When this resolves, the whole block is on disk. @throws BlockStoreUnavailable when there is no space */
  async put(cid: CID, bytes: Uint8Array): Promise<void> {
    const file = this.#fileOf(cid);
    if (await touch(file)) {
      // A block that a failing disk has corrupted is written again.
      const stored = await unlessAbsent(readFile(file), null);
      if (stored !== null && Buffer.compare(stored, bytes) === 0) return;
    }
    const release = await this.#reserve(bytes.length);
    try {
      await this.#write(file, bytes);
    } finally {
      release();
    }
  }

  async #write(file: string, bytes: Uint8Array): Promise<void> {
    await mkdir(join(file, ".."), { recursive: true });
    await mkdir(join(this.#folder, DRAFTS), { recursive: true });
    const draft = join(this.#folder, DRAFTS, randomUUID());
    try {
      const handle = await open(draft, "wx");
      try {
        await handle.writeFile(bytes);
        await handle.datasync();
      } finally {
        await handle.close();
      }
      await rename(draft, file);
    } catch (error) {
      // Otherwise each retry on a full disk would leave a temporary file.
      await rm(draft, { force: true });
      throw error;
    }
  }

  /** @throws BlockMissing, BlockCorrupt */
  async get(cid: CID): Promise<Uint8Array> {
    const bytes = await unlessAbsent(readFile(this.#fileOf(cid)), null);
    if (bytes === null) throw new BlockMissing(cid);
    if (!(await hasDigest(cid, bytes))) throw new BlockCorrupt(cid);
    return bytes;
  }

  async has(cid: CID): Promise<boolean> {
    return succeeds(stat(this.#fileOf(cid)));
  }

  /** A separate store for blocks that may be discarded. End it with `adopt` or `drop`. */
  draft(): BlockFiles {
    return new BlockFiles(join(this.#folder, DRAFTS, randomUUID()), this.#space);
  }

  /**
   * Reserves space for the blocks of a draft, until it ends. A draft may become larger, as long as there is space.
   * @throws BlockStoreUnavailable
   */
  async expect(bytes: number): Promise<void> {
    await this.#space?.reserve(bytes);
    this.#expected += bytes;
  }

  /** Takes space for a block: what is reserved first. @returns what gives it back when the block is on the disk. */
  async #reserve(bytes: number): Promise<() => void> {
    const expected = Math.min(bytes, this.#expected);
    this.#expected -= expected;
    try {
      if (bytes > expected) await this.#space?.reserve(bytes - expected);
    } catch (error) {
      this.#space?.release(expected);
      throw error;
    }
    return () => this.#space?.release(bytes);
  }

  /** Moves all blocks of a draft into this store and removes the draft. */
  async adopt(draft: BlockFiles): Promise<void> {
    for await (const { cid } of draft.all()) {
      const file = this.#fileOf(cid);
      await mkdir(join(file, ".."), { recursive: true });
      await rename(draft.#fileOf(cid), file);
    }
    await draft.drop();
  }

  /** Removes a draft and its blocks. */
  async drop(): Promise<void> {
    this.#space?.release(this.#expected);
    this.#expected = 0;
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** A new, empty quarantine for a garbage collection. */
  quarantine(): FileQuarantine {
    return new FileQuarantine(this.#folder, (cid) => this.#fileOf(cid));
  }

  /** Restores blocks that an interrupted garbage collection has quarantined. @returns how many. */
  async restoreQuarantined(): Promise<number> {
    return FileQuarantine.recover(this.#folder, (cid) => this.#fileOf(cid));
  }

  /** Every block, in no order. */
  async *all(): AsyncGenerator<StoredBlock> {
    for (const folder of await list(this.#folder)) {
      if (!folder.isDirectory() || folder.name.length !== FOLDER_NAME_LENGTH) continue;
      for (const entry of await list(join(this.#folder, folder.name))) {
        const cid = parseCid(entry.name);
        if (cid === null) continue;
        const { size } = await stat(join(this.#folder, folder.name, entry.name));
        yield { cid, bytes: size };
      }
    }
  }

  /** Removes drafts older than `before`, left by processes that died. */
  async removeUnfinished(before: number): Promise<void> {
    for (const entry of await list(join(this.#folder, DRAFTS))) {
      const draft = join(this.#folder, DRAFTS, entry.name);
      if ((await modifiedAt(draft)) < before) await rm(draft, { recursive: true, force: true });
    }
  }

  /** The start of the service checks DATA_DIR, and each block that cannot be written says why. */
  problem(): Promise<null> {
    return Promise.resolve(null);
  }

  /** The last characters of a CID are evenly distributed. They spread the files over about a thousand folders. */
  #fileOf(cid: CID): string {
    const name = canonicalCid(cid);
    return join(this.#folder, name.slice(-FOLDER_NAME_LENGTH - 1, -1), name);
  }
}

/** Updates a block's time, so that garbage collection keeps it. @returns false when it does not exist. */
function touch(file: string): Promise<boolean> {
  const now = new Date();
  return succeeds(utimes(file, now, now));
}

function list(folder: string): Promise<Dirent[]> {
  return unlessAbsent(readdir(folder, { withFileTypes: true }), []);
}

/** Without a look at each entry, which another process may remove meanwhile. */
function namesIn(folder: string): Promise<string[]> {
  return unlessAbsent(readdir(folder), []);
}

/** Folder inside the block folder. Each garbage collection has its own folder in it. */
const QUARANTINE = "quarantine";
/** Suffix of a collection's folder once its removal is confirmed. Any later collection may remove such a folder. */
const CONFIRMED = ".confirmed";

/** The quarantine of blocks in files: a folder to which they are moved. */
class FileQuarantine implements Quarantine {
  readonly #fileOf: (cid: CID) => string;
  #folder: string;
  #made = false;

  constructor(blocksFolder: string, fileOf: (cid: CID) => string) {
    this.#folder = join(blocksFolder, QUARANTINE, randomUUID());
    this.#fileOf = fileOf;
  }

  /**
   * Ends the collections of other processes: removes blocks whose removal was confirmed, and restores all others. A process
   * that is still collecting then gets `QuarantineTakenOver` at its next step.
   * @returns how many blocks were restored.
   */
  static async recover(blocksFolder: string, fileOf: (cid: CID) => string): Promise<number> {
    let count = 0;
    for (const name of await namesIn(join(blocksFolder, QUARANTINE))) {
      const folder = join(blocksFolder, QUARANTINE, name);
      if (name.endsWith(CONFIRMED)) {
        await rm(folder, { recursive: true, force: true });
        continue;
      }
      const own = new FileQuarantine(blocksFolder, fileOf);
      // The rename is atomic: the folder belongs either to the other process or to this one.
      if (await succeeds(rename(folder, own.#folder))) count += await own.restoreAll();
    }
    return count;
  }

  async add(cids: readonly CID[], before: number): Promise<CID[]> {
    const moved: CID[] = [];
    for (const cid of cids) if (await this.#move(cid, before)) moved.push(cid);
    return moved;
  }

  /** Moves a block to the quarantine. @returns false when it was stored (again) since `before`. */
  async #move(cid: CID, before: number): Promise<boolean> {
    const file = this.#fileOf(cid);
    if ((await modifiedAt(file)) >= before) return false;
    const quarantined = this.#quarantinedFileOf(cid);
    if (!this.#made) await mkdir(this.#folder, { recursive: true });
    this.#made = true;
    if (!(await succeeds(rename(file, quarantined)))) {
      if ((await modifiedAt(this.#folder)) === Infinity) throw new QuarantineTakenOver();
      return false;
    }
    // Check the time again after the move. A process that stored the same block meanwhile either touched this file before
    // the move, which shows here, or found no file and wrote a new one.
    if ((await modifiedAt(quarantined)) < before) return true;
    await this.restore(cid);
    return false;
  }

  async restore(cid: CID): Promise<boolean> {
    const file = this.#fileOf(cid);
    try {
      // If the block was stored again meanwhile, keep that copy: it is complete.
      if ((await modifiedAt(file)) !== Infinity) await unlink(this.#quarantinedFileOf(cid));
      else {
        await mkdir(dirname(file), { recursive: true });
        await rename(this.#quarantinedFileOf(cid), file);
      }
      return true;
    } catch (error) {
      if (isAbsent(error)) return false;
      throw error;
    }
  }

  async restoreAll(): Promise<number> {
    let count = 0;
    for (const cid of await this.all()) if (await this.restore(cid)) count += 1;
    try {
      await rmdir(this.#folder);
    } catch (error) {
      if (!isAbsent(error) && (error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error;
    }
    return count;
  }

  async all(): Promise<CID[]> {
    return (await namesIn(this.#folder)).map(parseCid).filter((cid) => cid !== null);
  }

  async confirm(): Promise<void> {
    if (!this.#made) return;
    const confirmed = this.#folder + CONFIRMED;
    if (!(await succeeds(rename(this.#folder, confirmed)))) throw new QuarantineTakenOver();
    this.#folder = confirmed;
  }

  async remove(): Promise<{ blocks: number; bytes: number }> {
    const removed = { blocks: 0, bytes: 0 };
    for (const cid of await this.all()) {
      // Another process may be removing it, too: see `recover`.
      const found = await unlessAbsent(stat(this.#quarantinedFileOf(cid)), null);
      if (found === null) continue;
      removed.blocks += 1;
      removed.bytes += found.size;
    }
    await rm(this.#folder, { recursive: true, force: true });
    return removed;
  }

  #quarantinedFileOf(cid: CID): string {
    return join(this.#folder, canonicalCid(cid));
  }
}

/** @returns false when the file, or its folder, does not exist. */
async function succeeds(access: Promise<unknown>): Promise<boolean> {
  return (await unlessAbsent(access, null)) !== null;
}

/** Modification time of a file in milliseconds; Infinity when it does not exist. */
async function modifiedAt(file: string): Promise<number> {
  return (await unlessAbsent(stat(file), null))?.mtimeMs ?? Infinity;
}

/**
 * Reserves space on the disk of a folder for files that are being written. Some of the disk stays free for the database and the
 * logs: a full disk would stop the whole service. What other processes write is seen only once it is on the disk.
 */
export class DiskReserve {
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

  /** Promises space for bytes. End it with `release`. @throws BlockStoreUnavailable when there is too little. */
  async reserve(bytes: number): Promise<void> {
    // Counted before the disk is read, so that two reservations at the same time do not get the same space.
    this.#promised += bytes;
    try {
      const { free } = await this.#read(this.#folder);
      if (free - this.#promised >= this.#keepFree) return;
      throw new BlockStoreUnavailable(
        `the disk of ${this.#folder} has no room for further files: ${this.#keepFree.toString()} bytes stay free (MIN_FREE_DISK_BYTES)`,
      );
    } catch (error) {
      this.#promised -= bytes;
      throw error;
    }
  }

  /** The bytes are written, or are not needed any more. */
  release(bytes: number): void {
    this.#promised -= bytes;
  }
}
