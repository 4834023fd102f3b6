import { randomUUID } from "node:crypto";
import type { Dirent } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";

import type { CID } from "multiformats/cid";
import { sha256 } from "multiformats/hashes/sha2";

import { canonicalCid, parseCid } from "./cids.ts";
import { isAbsent, modifiedAt } from "./files.ts";
import { Quarantine } from "./quarantine.ts";

/** Thrown when a block is not stored. */
export class BlockMissing extends Error {
  override readonly name = "BlockMissing";
  readonly cid: string;

  constructor(cid: CID) {
    super(`block ${canonicalCid(cid)} is missing`);
    this.cid = canonicalCid(cid);
  }
}

/** Thrown when the bytes of a stored block do not match the hash in its CID. */
export class BlockCorrupt extends Error {
  override readonly name = "BlockCorrupt";
  readonly cid: string;

  constructor(cid: CID) {
    super(`block ${canonicalCid(cid)} is corrupt`);
    this.cid = canonicalCid(cid);
  }
}

export interface StoredBlock {
  cid: CID;
  bytes: number;
}

const DRAFTS = "drafts";
/** Length of the names of the folders that hold blocks. No other folder here has a name of this length. */
const FOLDER_NAME_LENGTH = 2;

/**
 * Blocks as files, each named by its CID. The same bytes are stored once, files never change, and every read is checked
 * against the CID. Any number of processes may share the folder.
 */
export class BlockFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Stores a block. When this resolves, the whole block is on disk. */
  async put(cid: CID, bytes: Uint8Array): Promise<void> {
    const file = this.#fileOf(cid);
    if (await touch(file)) {
      // A block that a failing disk has corrupted is written again.
      const stored = await readIfThere(file);
      if (stored !== null && Buffer.compare(stored, bytes) === 0) return;
    }
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
    return new BlockFiles(join(this.#folder, DRAFTS, randomUUID()));
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
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** A new, empty quarantine for a garbage collection. */
  quarantine(): Quarantine {
    return new Quarantine(this.#folder, (cid) => this.#fileOf(cid));
  }

  /** Restores blocks that an interrupted garbage collection has quarantined. @returns how many. */
  async restoreQuarantined(): Promise<number> {
    return Quarantine.recover(this.#folder, (cid) => this.#fileOf(cid));
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

  /** Removes drafts older than `before`, left by processes that died. @returns how many. */
  async removeDrafts(before: number): Promise<number> {
    let removed = 0;
    for (const entry of await list(join(this.#folder, DRAFTS))) {
      const draft = join(this.#folder, DRAFTS, entry.name);
      if ((await modifiedAt(draft)) >= before) continue;
      await rm(draft, { recursive: true, force: true });
      removed += 1;
    }
    return removed;
  }

  /** The last characters of a CID are evenly distributed. They spread the files over about a thousand folders. */
  #fileOf(cid: CID): string {
    const name = canonicalCid(cid);
    return join(this.#folder, name.slice(-FOLDER_NAME_LENGTH - 1, -1), name);
  }
}

/** Whether the hash of the bytes is the one in the CID. */
export async function hasDigest(cid: CID, bytes: Uint8Array): Promise<boolean> {
  const digest = await sha256.digest(bytes);
  return Buffer.compare(digest.bytes, cid.multihash.bytes) === 0;
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
