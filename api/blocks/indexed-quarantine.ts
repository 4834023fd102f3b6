import { randomUUID } from "node:crypto";

import { CID } from "multiformats/cid";

import { type Quarantine, QuarantineTakenOver } from "../ipfs/block-store.ts";
import { canonicalCid } from "../ipfs/cids.ts";
import {
  beginCollection,
  confirmCollection,
  dropCollection,
  endCollections,
  quarantineBlocks,
  quarantinedBlocks,
  removeConfirmed,
  restoreBlocks,
} from "../store/media/blocks.ts";
import type { IndexedBlocksDeps } from "./indexed-blocks.ts";

/** Blocks that are removed in one transaction. */
const CHUNK = 500;
/**
 * Blocks that were stored in the last minutes stay, whatever the age that was asked for: the clocks of several machines
 * differ. In milliseconds.
 */
const CLOCK_DIFFERENCE = 300_000;

/** A quarantine that marks rows of the index. */
export class IndexedQuarantine implements Quarantine {
  readonly #deps: Pick<IndexedBlocksDeps, "database" | "objects" | "now">;
  readonly #sweep: () => Promise<void>;
  readonly #id = randomUUID();
  readonly #store: string;
  #begun = false;

  /** @param sweep deletes the objects of removed blocks. */
  constructor(deps: Pick<IndexedBlocksDeps, "database" | "objects" | "now">, sweep: () => Promise<void>) {
    this.#deps = deps;
    this.#store = deps.objects.name;
    this.#sweep = sweep;
  }

  async add(cids: readonly CID[], before: number): Promise<CID[]> {
    const { database, now } = this.#deps;
    const limit = Math.min(before, now()) - CLOCK_DIFFERENCE;
    const collection = { store: this.#store, id: this.#id };
    const begin = !this.#begun;
    const moved = await database.write(async (trx) => {
      if (begin) {
        // One collection at a time: a second one ends the first.
        await endCollections(trx, this.#store);
        await beginCollection(trx, this.#store, this.#id);
      }
      return quarantineBlocks(trx, collection, cids.map(canonicalCid), limit);
    });
    this.#begun = true;
    if (moved === null) throw new QuarantineTakenOver();
    return moved.map((cid) => CID.parse(cid));
  }

  async restore(cid: CID): Promise<boolean> {
    const restored = await this.#deps.database.write((trx) =>
      restoreBlocks(trx, this.#store, this.#id, canonicalCid(cid)),
    );
    return restored > 0;
  }

  restoreAll(): Promise<number> {
    return this.#deps.database.write(async (trx) => {
      await dropCollection(trx, this.#store, this.#id);
      return restoreBlocks(trx, this.#store, this.#id, null);
    });
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
