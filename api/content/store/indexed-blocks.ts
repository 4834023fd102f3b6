import { randomUUID } from "node:crypto";

import { CID } from "multiformats/cid";

import { forEachAtOnce } from "../../shared/at-once.ts";
import type { Database } from "../../store/db/database.ts";
import {
  announceObject,
  beginCollection,
  confirmCollection,
  doomedObjects,
  endCollections,
  findBlock,
  forgetObjects,
  giveUpUploads,
  indexedBlocks,
  quarantineBlocks,
  quarantinedBlocks,
  recordBlock,
  removeConfirmed,
  restoreBlock,
  touchBlock,
} from "../../store/media/blocks.ts";
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

/** Blocks that are removed in one transaction. */
const CHUNK = 500;
/**
 * Blocks that were stored in the last minutes stay, whatever the age that was asked for: the clocks of several machines
 * differ. In milliseconds.
 */
const CLOCK_DIFFERENCE = 300_000;

/** A quarantine that marks rows of the index. */
class IndexedQuarantine implements Quarantine {
  readonly #deps: IndexedBlocksDeps;
  readonly #sweep: () => Promise<void>;
  readonly #id = randomUUID();
  readonly #store: string;
  #begun = false;

  /** @param sweep deletes the objects of removed blocks. */
  constructor(deps: IndexedBlocksDeps, sweep: () => Promise<void>) {
    this.#deps = deps;
    this.#store = deps.objects.name;
    this.#sweep = sweep;
  }

  async add(cids: readonly CID[], before: number): Promise<CID[]> {
    const { database, now } = this.#deps;
    const limit = Math.min(before, now()) - CLOCK_DIFFERENCE;
    const collection = { store: this.#store, id: this.#id };
    const moved = await database.write(async (trx) => {
      if (!this.#begun) await beginCollection(trx, this.#store, this.#id);
      return quarantineBlocks(trx, collection, cids.map(canonicalCid), limit);
    });
    this.#begun = true;
    if (moved === null) throw new QuarantineTakenOver();
    return moved.map((cid) => CID.parse(cid));
  }

  restore(cid: CID): Promise<boolean> {
    return this.#deps.database.write((trx) => restoreBlock(trx, this.#store, this.#id, canonicalCid(cid)));
  }

  restoreAll(): Promise<number> {
    return this.#deps.database.write((trx) => endCollections(trx, this.#store, this.#id));
  }

  async all(): Promise<CID[]> {
    const cids = await quarantinedBlocks(this.#deps.database.read, this.#store, this.#id);
    return cids.map((cid) => CID.parse(cid));
  }

  async confirm(): Promise<void> {
    if (!this.#begun) return;
    const confirmed = await this.#deps.database.write((trx) => confirmCollection(trx, this.#store, this.#id));
    if (!confirmed) throw new QuarantineTakenOver();
  }

  async remove(): Promise<{ blocks: number; bytes: number }> {
    const { database, now } = this.#deps;
    const total = { blocks: 0, bytes: 0 };
    for (;;) {
      const removed = await database.write((trx) => removeConfirmed(trx, this.#store, CHUNK, now()));
      if (removed.blocks === 0) break;
      total.blocks += removed.blocks;
      total.bytes += removed.bytes;
    }
    await this.#sweep();
    return total;
  }
}

/** Blocks of a draft that are stored at once. Each is in memory meanwhile. */
const WRITES = 2;

interface IndexedBlocksDeps {
  database: Database;
  /** Where the bytes are. */
  objects: ObjectStore;
  /** For drafts. They stay local files until a download is complete. */
  local: BlockFiles;
  now: () => number;
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
  readonly #deps: IndexedBlocksDeps;

  constructor(deps: IndexedBlocksDeps) {
    this.#deps = deps;
    this.name = deps.objects.name;
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
    const { database, objects, now } = this.#deps;
    const name = canonicalCid(cid);
    const stored = await database.write((trx) => touchBlock(trx, this.name, name, now()));
    if (stored !== null) {
      // An object that was lost or damaged is stored again.
      const present = await objects.get(stored.object);
      if (present !== null && Buffer.compare(present, bytes) === 0) return;
    }
    const block = { cid: name, object: `${name}-${randomUUID()}`, size: bytes.length };
    await database.write((trx) => announceObject(trx, this.name, block.object, now()));
    await objects.put(block.object, bytes);
    const recorded = await database.write((trx) => recordBlock(trx, this.name, block, now()));
    if (!recorded)
      throw new BlockStoreUnavailable(`storing the block ${name} took so long that a garbage collection gave it up`);
  }

  async get(cid: CID): Promise<Uint8Array> {
    let previous: string | null = null;
    for (;;) {
      const block = await findBlock(this.#deps.database.read, this.name, canonicalCid(cid));
      // If the object changed since the row was read, the block was stored again, and its old object is deleted.
      if (block === null || block.object === previous) throw new BlockMissing(cid);
      const bytes = await this.#deps.objects.get(block.object);
      if (bytes === null) {
        previous = block.object;
        continue;
      }
      if (!(await hasDigest(cid, bytes))) throw new BlockCorrupt(cid);
      return bytes;
    }
  }

  async has(cid: CID): Promise<boolean> {
    return (await findBlock(this.#deps.database.read, this.name, canonicalCid(cid))) !== null;
  }

  async *all(): AsyncGenerator<StoredBlock> {
    for await (const { cid, size } of indexedBlocks(this.#deps.database.read, this.name)) {
      yield { cid: CID.parse(cid), bytes: size };
    }
  }

  draft(): BlockFiles {
    return this.#deps.local.draft();
  }

  async adopt(draft: BlockFiles): Promise<void> {
    // None may go on after the draft is removed.
    await forEachAtOnce(draft.all(), WRITES, async ({ cid }) => this.put(cid, await draft.get(cid)));
    await draft.drop();
  }

  quarantine(): IndexedQuarantine {
    return new IndexedQuarantine(this.#deps, () => this.#sweep());
  }

  async restoreQuarantined(): Promise<number> {
    return this.#deps.database.write((trx) => endCollections(trx, this.name));
  }

  async removeUnfinished(before: number): Promise<void> {
    const { database, local } = this.#deps;
    await local.removeUnfinished(before);
    await database.write((trx) => giveUpUploads(trx, this.name, before));
    await this.#sweep();
  }

  problem(): Promise<string | null> {
    return this.#deps.objects.problem();
  }

  /** Deletes the objects that no block needs any more. A crash at any time leaves their rows for the next sweep. */
  async #sweep(): Promise<void> {
    const { database, objects } = this.#deps;
    for (;;) {
      const doomed = await doomedObjects(database.read, this.name);
      if (doomed.length === 0) return;
      await objects.delete(doomed);
      await database.write((trx) => forgetObjects(trx, this.name, doomed));
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
