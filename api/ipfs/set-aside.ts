import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rmdir, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { CID } from "multiformats/cid";

import { canonicalCid, parseCid } from "./cids.ts";
import { isAbsent, modifiedAt } from "./files.ts";

/** Folder beside the blocks' own; in it one for each run that sets blocks aside. */
const ASIDE = "aside";

/**
 * Blocks that one run has taken out of the store and not removed yet: nobody can read them, and all of them can still come
 * back. So "nobody refers to it" can be looked at once more when nothing can change the answer without being seen.
 */
export class SetAside {
  readonly #folder: string;
  readonly #fileOf: (cid: CID) => string;

  constructor(blocksFolder: string, fileOf: (cid: CID) => string, run: string = randomUUID()) {
    this.#folder = join(blocksFolder, ASIDE, run);
    this.#fileOf = fileOf;
  }

  /** Those of all runs: this one's, those of runs that died, and those of runs under way, which then remove less. */
  static async runs(blocksFolder: string, fileOf: (cid: CID) => string): Promise<SetAside[]> {
    const names = await namesIn(join(blocksFolder, ASIDE));
    return names.map((run) => new SetAside(blocksFolder, fileOf, run));
  }

  /**
   * Takes a block out of the store, unless somebody has stored it (again) since `before`.
   * @returns whether it did.
   */
  async take(cid: CID, before: number): Promise<boolean> {
    const file = this.#fileOf(cid);
    if ((await modifiedAt(file)) >= before) return false;
    const aside = this.#asideOf(cid);
    await mkdir(this.#folder, { recursive: true });
    try {
      await rename(file, aside);
    } catch (error) {
      if (isAbsent(error)) return false;
      throw error;
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

  /** Removes a block for good. @returns how many bytes it had; null when another run has given it back. */
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

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}
