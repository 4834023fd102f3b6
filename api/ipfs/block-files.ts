import { randomUUID } from "node:crypto";
import type { Dirent } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";

import type { CID } from "multiformats/cid";
import { sha256 } from "multiformats/hashes/sha2";

import { canonicalCid, parseCid } from "./cids.ts";
import { isAbsent, modifiedAt } from "./files.ts";
import { Quarantine } from "./quarantine.ts";

/** A block that content needs is not there. */
export class BlockMissing extends Error {
  override readonly name = "BlockMissing";
  readonly cid: string;

  constructor(cid: CID) {
    super(`block ${canonicalCid(cid)} is missing`);
    this.cid = canonicalCid(cid);
  }
}

/** A block is there, but its bytes are not those that its name stands for. */
export class BlockCorrupt extends Error {
  override readonly name = "BlockCorrupt";
  readonly cid: string;

  constructor(cid: CID) {
    super(`block ${canonicalCid(cid)} is corrupt`);
    this.cid = canonicalCid(cid);
  }
}

/** A block's file, as a listing shows it. */
export interface StoredBlock {
  cid: CID;
  bytes: number;
}

const DRAFTS = "drafts";
/** Characters of a block's folder. No other folder here has a name so short. */
const SPREAD = 2;

/**
 * Blocks as files, each named after its content: the same bytes are stored once, a file once written never changes, and
 * what is read is checked against its name. Any number of processes may share the folder.
 */
export class BlockFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Stores a block. Once this resolves it is on disk, complete. */
  async put(cid: CID, bytes: Uint8Array): Promise<void> {
    const file = this.#fileOf(cid);
    if (await touch(file)) {
      // One that a failing disk has spoilt is written anew.
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
      // A full disk would only become fuller.
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

  /** A place for blocks of which it is not known yet whether they are to be kept. */
  draft(): BlockFiles {
    return new BlockFiles(join(this.#folder, DRAFTS, randomUUID()));
  }

  /** Takes over all blocks of a draft, which ends with that. */
  async adopt(draft: BlockFiles): Promise<void> {
    for await (const { cid } of draft.all()) {
      const file = this.#fileOf(cid);
      await mkdir(join(file, ".."), { recursive: true });
      await rename(draft.#fileOf(cid), file);
    }
    await draft.drop();
  }

  /** Removes a draft with all that is in it. */
  async drop(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** A place for blocks that are perhaps to be removed. */
  quarantine(): Quarantine {
    return new Quarantine(this.#folder, (cid) => this.#fileOf(cid));
  }

  /** Brings back what runs that died have set aside. @returns how many blocks. */
  async giveBackAll(): Promise<number> {
    return Quarantine.recover(this.#folder, (cid) => this.#fileOf(cid));
  }

  /** Every block, in no order. */
  async *all(): AsyncGenerator<StoredBlock> {
    for (const folder of await list(this.#folder)) {
      if (!folder.isDirectory() || folder.name.length !== SPREAD) continue;
      for (const entry of await list(join(this.#folder, folder.name))) {
        const cid = parseCid(entry.name);
        if (cid === null) continue;
        const { size } = await stat(join(this.#folder, folder.name, entry.name));
        yield { cid, bytes: size };
      }
    }
  }

  /** Removes what writers that died have left half done. @returns how many files. */
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

  /** The last characters of a CID are as good as random: they spread the files over a thousand folders. */
  #fileOf(cid: CID): string {
    const name = canonicalCid(cid);
    return join(this.#folder, name.slice(-SPREAD - 1, -1), name);
  }
}

/** Whether these are the bytes that the CID names. */
export async function hasDigest(cid: CID, bytes: Uint8Array): Promise<boolean> {
  const digest = await sha256.digest(bytes);
  return Buffer.compare(digest.bytes, cid.multihash.bytes) === 0;
}

/** Makes a block young again, so that it is not collected. @returns false when there is none. */
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
