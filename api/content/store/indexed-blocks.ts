import { randomUUID } from "node:crypto";

import { CID } from "multiformats/cid";

import { forEachAtOnce } from "../../shared/at-once.ts";
import type { Database } from "../../store/db/database.ts";
import { BlockIndex } from "../../store/media/blocks.ts";
import type { BlockFiles } from "../block-files.ts";
import {
  BlockCorrupt,
  BlockMissing,
  type BlockStore,
  BlockStoreUnavailable,
  hasDigest,
  type Quarantine,
  QuarantineTakenOver,
  type StoredBlock,
} from "../block-store.ts";
import { canonicalCid } from "../cids.ts";

/**
 * Blocks that were stored in the last minutes stay, whatever the age that was asked for: the clocks of several machines
 * differ. In milliseconds.
 */
const CLOCK_DIFFERENCE = 300_000;
/** Blocks of a draft that are stored at once. Each is in memory meanwhile. */
const WRITES = 2;

interface IndexedBlocksDeps {
  database: Database;
  /** Where the bytes are. */
  objects: ObjectStore;
  /** For drafts. They stay local files until a download is complete. */
  local: BlockFiles;
}

/**
 * Blocks whose bytes are in objects, with an index in the database. The index alone decides which blocks exist, so it does
 * not matter in which order a bucket shows its objects, and quarantining a block changes only its row.
 *
 * Each upload has a name of its own, which is recorded first. So an object is deleted only when no row names it, and a
 * late deletion never meets the object of a newer upload.
 */
export class IndexedBlocks implements BlockStore {
  readonly name: string;
  readonly #objects: ObjectStore;
  readonly #local: BlockFiles;
  readonly #index: BlockIndex;

  constructor({ database, objects, local }: IndexedBlocksDeps) {
    this.name = objects.name;
    this.#objects = objects;
    this.#local = local;
    this.#index = new BlockIndex(database, this.name, () => Date.now());
  }

  async put(cid: CID, bytes: Uint8Array): Promise<void> {
    try {
      await this.#put(cid, bytes);
    } catch (error) {
      if (error instanceof BlockStoreUnavailable) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new BlockStoreUnavailable(`blocks cannot be stored in ${this.name}: ${reason}`, { cause: error });
    }
  }

  async #put(cid: CID, bytes: Uint8Array): Promise<void> {
    const name = canonicalCid(cid);
    const stored = await this.#index.touch(name);
    if (stored !== null) {
      // An object that was lost or damaged is stored again.
      const present = await this.#objects.get(stored.object);
      if (present !== null && Buffer.compare(present, bytes) === 0) return;
    }
    const block = { cid: name, object: `${name}-${randomUUID()}`, size: bytes.length };
    await this.#index.announce(block.object);
    await this.#objects.put(block.object, bytes);
    if (!(await this.#index.record(block)))
      throw new BlockStoreUnavailable(`storing the block ${name} took so long that a garbage collection gave it up`);
  }

  async get(cid: CID): Promise<Uint8Array> {
    let previous: string | null = null;
    for (;;) {
      const block = await this.#index.find(canonicalCid(cid));
      // If the object changed since the row was read, the block was stored again, and its old object is deleted.
      if (block === null || block.object === previous) throw new BlockMissing(cid);
      const bytes = await this.#objects.get(block.object);
      if (bytes === null) {
        previous = block.object;
        continue;
      }
      if (!(await hasDigest(cid, bytes))) throw new BlockCorrupt(cid);
      return bytes;
    }
  }

  async has(cid: CID): Promise<boolean> {
    return (await this.#index.find(canonicalCid(cid))) !== null;
  }

  async *all(): AsyncGenerator<StoredBlock> {
    for await (const { cid, size } of this.#index.all()) yield { cid: CID.parse(cid), bytes: size };
  }

  draft(): BlockFiles {
    return this.#local.draft();
  }

  async adopt(draft: BlockFiles): Promise<void> {
    // None may go on after the draft is removed.
    await forEachAtOnce(draft.all(), WRITES, async ({ cid }) => this.put(cid, await draft.get(cid)));
    await draft.drop();
  }

  /** A quarantine that marks rows of the index. */
  quarantine(): Quarantine {
    const index = this.#index;
    const id = randomUUID();
    let begun = false;
    return {
      add: async (cids, before) => {
        const limit = Math.min(before, Date.now()) - CLOCK_DIFFERENCE;
        const moved = await index.quarantine({ id, first: !begun }, cids.map(canonicalCid), limit);
        begun = true;
        if (moved === null) throw new QuarantineTakenOver();
        return moved.map((cid) => CID.parse(cid));
      },
      restore: (cid) => index.restore(id, canonicalCid(cid)),
      restoreAll: () => index.end(id),
      all: async () => (await index.quarantined(id)).map((cid) => CID.parse(cid)),
      confirm: async () => {
        if (begun && !(await index.confirm(id))) throw new QuarantineTakenOver();
      },
      remove: async () => {
        const total = { blocks: 0, bytes: 0 };
        for (;;) {
          const removed = await index.removeConfirmed();
          if (removed.blocks === 0) break;
          total.blocks += removed.blocks;
          total.bytes += removed.bytes;
        }
        await this.#sweep();
        return total;
      },
    };
  }

  restoreQuarantined(): Promise<number> {
    return this.#index.end();
  }

  async removeUnfinished(before: number): Promise<void> {
    await this.#local.removeUnfinished(before);
    await this.#index.giveUpUploads(before);
    await this.#sweep();
  }

  problem(): Promise<string | null> {
    return this.#objects.problem();
  }

  /** Deletes the objects that no block needs any more. A crash at any time leaves their rows for the next sweep. */
  async #sweep(): Promise<void> {
    for (;;) {
      const doomed = await this.#index.doomed();
      if (doomed.length === 0) return;
      await this.#objects.delete(doomed);
      await this.#index.forget(doomed);
    }
  }
}

/** A place for bytes under names. Names are never used twice, so an object never changes. */
export interface ObjectStore {
  /** Identifies the place. */
  readonly name: string;
  put(object: string, bytes: Uint8Array): Promise<void>;
  /** @returns null when there is no such object. */
  get(object: string): Promise<Uint8Array | null>;
  /** Deletes objects. Those that do not exist are skipped. */
  delete(objects: readonly string[]): Promise<void>;
  /** Why objects cannot be stored or read, and what to do about it; null when they can. */
  problem(): Promise<string | null>;
}
