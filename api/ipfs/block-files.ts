import { randomUUID } from "node:crypto";
import type { Dirent } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";

import type { CID } from "multiformats/cid";

import { BlockCorrupt, BlockMissing, type BlockStore, hasDigest, type StoredBlock } from "./block-store.ts";
import { canonicalCid, parseCid } from "./cids.ts";
import type { DiskRoom } from "./disk-room.ts";
import { isAbsent, modifiedAt } from "./files.ts";
import { FileQuarantine } from "./file-quarantine.ts";

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
  readonly #room: DiskRoom | null;
  /** Bytes that are reserved for the next blocks of this draft. */
  #expected = 0;

  /** @param room for new blocks; null: they may fill the disk. */
  constructor(folder: string, room: DiskRoom | null = null) {
    this.#folder = folder;
    this.#room = room;
  }

  /** Stores a block. When this resolves, the whole block is on disk. @throws BlockStoreUnavailable when there is no room */
  async put(cid: CID, bytes: Uint8Array): Promise<void> {
    const file = this.#fileOf(cid);
    if (await touch(file)) {
      // A block that a failing disk has corrupted is written again.
      const stored = await readIfThere(file);
      if (stored !== null && Buffer.compare(stored, bytes) === 0) return;
    }
    const release = await this.#takeRoom(bytes.length);
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
    const bytes = await readIfThere(this.#fileOf(cid));
    if (bytes === null) throw new BlockMissing(cid);
    if (!(await hasDigest(cid, bytes))) throw new BlockCorrupt(cid);
    return bytes;
  }

  async has(cid: CID): Promise<boolean> {
    try {
      await stat(this.#fileOf(cid));
      return true;
    } catch (error) {
      if (isAbsent(error)) return false;
      throw error;
    }
  }

  /** A separate store for blocks that may be discarded. End it with `adopt` or `drop`. */
  draft(): BlockFiles {
    return new BlockFiles(join(this.#folder, DRAFTS, randomUUID()), this.#room);
  }

  /**
   * Reserves room for the blocks of a draft, until it ends. A draft may become larger, as long as there is room.
   * @throws BlockStoreUnavailable
   */
  async expect(bytes: number): Promise<void> {
    await this.#room?.reserve(bytes);
    this.#expected += bytes;
  }

  /** Takes room for a block: what is reserved first. @returns what gives it back when the block is on the disk. */
  async #takeRoom(bytes: number): Promise<() => void> {
    const expected = Math.min(bytes, this.#expected);
    this.#expected -= expected;
    try {
      if (bytes > expected) await this.#room?.reserve(bytes - expected);
    } catch (error) {
      this.#room?.release(expected);
      throw error;
    }
    return () => this.#room?.release(bytes);
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
    this.#room?.release(this.#expected);
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
async function touch(file: string): Promise<boolean> {
  const now = new Date();
  try {
    await utimes(file, now, now);
    return true;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

async function readIfThere(file: string): Promise<Uint8Array | null> {
  try {
    return await readFile(file);
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

async function list(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}
