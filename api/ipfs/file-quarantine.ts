import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm, rmdir, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { CID } from "multiformats/cid";

import { type Quarantine, QuarantineTakenOver } from "./block-store.ts";
import { canonicalCid, parseCid } from "./cids.ts";
import { isAbsent, modifiedAt } from "./files.ts";

/** Folder inside the block folder. Each garbage collection has its own folder in it. */
const QUARANTINE = "quarantine";
/** Suffix of a collection's folder once its removal is confirmed. Any later collection may remove such a folder. */
const CONFIRMED = ".confirmed";

/** The quarantine of blocks in files: a folder to which they are moved. */
export class FileQuarantine implements Quarantine {
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
    for (const run of await namesIn(join(blocksFolder, QUARANTINE))) {
      const folder = join(blocksFolder, QUARANTINE, run);
      if (run.endsWith(CONFIRMED)) {
        await rm(folder, { recursive: true, force: true });
        continue;
      }
      const own = new FileQuarantine(blocksFolder, fileOf);
      // The rename is atomic: the folder belongs either to the other process or to this one.
      if (await renamed(folder, own.#folder)) count += await own.restoreAll();
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
    if (!(await renamed(file, quarantined))) {
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
    await this.#close();
    return count;
  }

  async all(): Promise<CID[]> {
    return (await namesIn(this.#folder)).map(parseCid).filter((cid) => cid !== null);
  }

  async confirm(): Promise<void> {
    if (!this.#made) return;
    const confirmed = this.#folder + CONFIRMED;
    if (!(await renamed(this.#folder, confirmed))) throw new QuarantineTakenOver();
    this.#folder = confirmed;
  }

  async remove(): Promise<{ blocks: number; bytes: number }> {
    const removed = { blocks: 0, bytes: 0 };
    for (const cid of await this.all()) {
      const size = await this.#delete(cid);
      if (size === null) continue;
      removed.blocks += 1;
      removed.bytes += size;
    }
    await this.#close();
    return removed;
  }

  /** @returns the size of the block; null when another process has deleted it. */
  async #delete(cid: CID): Promise<number | null> {
    const quarantined = this.#quarantinedFileOf(cid);
    try {
      const { size } = await stat(quarantined);
      await unlink(quarantined);
      return size;
    } catch (error) {
      if (isAbsent(error)) return null;
      throw error;
    }
  }

  /** Removes the folder if no blocks are left in it. */
  async #close(): Promise<void> {
    try {
      await rmdir(this.#folder);
    } catch (error) {
      if (!isAbsent(error) && (error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error;
    }
  }

  #quarantinedFileOf(cid: CID): string {
    return join(this.#folder, canonicalCid(cid));
  }
}

/** @returns false when the file or the target folder does not exist. */
async function renamed(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}
