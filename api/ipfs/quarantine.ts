import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm, rmdir, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { CID } from "multiformats/cid";

import { canonicalCid, parseCid } from "./cids.ts";
import { isAbsent, modifiedAt } from "./files.ts";

/** Folder beside the blocks' own; in it one for each run that sets blocks aside. */
const ASIDE = "aside";
/** End of a run's folder whose blocks are to be removed, whoever does it. */
const GONE = ".gone";

/** Somebody else has brought back what this run had set aside. */
export class TakenOver extends Error {
  override readonly name = "TakenOver";
}

/**
 * Blocks that one run has taken out of the store and not removed yet: nobody can read them, and all of them can still come
 * back. So "nobody refers to it" can be looked at once more when nothing can change the answer without being seen.
 */
export class Quarantine {
  readonly #fileOf: (cid: CID) => string;
  #folder: string;
  #made = false;

  constructor(blocksFolder: string, fileOf: (cid: CID) => string) {
    this.#folder = join(blocksFolder, ASIDE, randomUUID());
    this.#fileOf = fileOf;
  }

  /**
   * Ends the runs that others have begun: what they had decided to remove goes, everything else comes back. One that is
   * still alive finds that out before it does anything more.
   * @returns how many blocks came back.
   */
  static async recover(blocksFolder: string, fileOf: (cid: CID) => string): Promise<number> {
    let count = 0;
    for (const run of await namesIn(join(blocksFolder, ASIDE))) {
      const folder = join(blocksFolder, ASIDE, run);
      if (run.endsWith(GONE)) {
        await rm(folder, { recursive: true, force: true });
        continue;
      }
      const own = new Quarantine(blocksFolder, fileOf);
      // At one moment it is theirs, at the next ours: never half.
      if (await renamed(folder, own.#folder)) count += await own.giveBackAll();
    }
    return count;
  }

  /**
   * Takes a block out of the store, unless somebody has stored it (again) since `before`.
   * @returns whether it did.
   * @throws TakenOver
   */
  async take(cid: CID, before: number): Promise<boolean> {
    const file = this.#fileOf(cid);
    if ((await modifiedAt(file)) >= before) return false;
    const aside = this.#asideOf(cid);
    if (!this.#made) await mkdir(this.#folder, { recursive: true });
    this.#made = true;
    if (!(await renamed(file, aside))) {
      if ((await modifiedAt(this.#folder)) === Infinity) throw new TakenOver("the blocks set aside were brought back");
      return false;
    }
    // Looked at again: whoever stores the same block meanwhile either has touched this file before, which is seen here,
    // or finds none and writes another.
    if ((await modifiedAt(aside)) < before) return true;
    await this.giveBack(cid);
    return false;
  }

  /** @returns false when it is not here. */
  async giveBack(cid: CID): Promise<boolean> {
    const file = this.#fileOf(cid);
    try {
      // One that was stored anew since is surely whole.
      if ((await modifiedAt(file)) !== Infinity) await unlink(this.#asideOf(cid));
      else {
        await mkdir(dirname(file), { recursive: true });
        await rename(this.#asideOf(cid), file);
      }
      return true;
    } catch (error) {
      if (isAbsent(error)) return false;
      throw error;
    }
  }

  async giveBackAll(): Promise<number> {
    let count = 0;
    for (const cid of await this.all()) if (await this.giveBack(cid)) count += 1;
    await this.end();
    return count;
  }

  async all(): Promise<CID[]> {
    return (await namesIn(this.#folder)).map(parseCid).filter((cid) => cid !== null);
  }

  /** From now on none of them comes back, even if this process dies. @throws TakenOver */
  async decide(): Promise<void> {
    if (!this.#made) return;
    const gone = this.#folder + GONE;
    if (!(await renamed(this.#folder, gone))) throw new TakenOver("the blocks set aside were brought back");
    this.#folder = gone;
  }

  /** Removes a block for good. @returns how many bytes it had; null when another run has done it. */
  async remove(cid: CID): Promise<number | null> {
    const aside = this.#asideOf(cid);
    try {
      const { size } = await stat(aside);
      await unlink(aside);
      return size;
    } catch (error) {
      if (isAbsent(error)) return null;
      throw error;
    }
  }

  /** Leaves nothing behind, unless there are blocks. */
  async end(): Promise<void> {
    try {
      await rmdir(this.#folder);
    } catch (error) {
      if (!isAbsent(error) && (error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error;
    }
  }

  #asideOf(cid: CID): string {
    return join(this.#folder, canonicalCid(cid));
  }
}

/** @returns false when there is nothing to rename, or no folder to put it in. */
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
