import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { prepareRange } from "../indexer/prepare-range.ts";
import { readRange } from "../indexer/read-range.ts";
import { storedBlock } from "../store/ledger/blocks.ts";
import type { Trx } from "../store/db/engine.ts";
import { readMeta } from "../store/db/meta.ts";
import { openScratch, type Scratch } from "../store/reconcile/scratch.ts";
import { everWatchedContracts } from "../store/ledger/watched.ts";
import { type ReconcileDeps, ReconcileError } from "./deps.ts";
import { inRanges } from "./ranges.ts";

/** Retries while a running indexer advances, before this gives up. */
const MAX_ATTEMPTS = 100;

/** The chain, read again from the first block into a temporary database, up to the checkpoint of the real one. */
export class Replay {
  readonly #deps: ReconcileDeps;
  readonly #scratch: Scratch;
  #block: number;
  #hash: string | null = null;

  private constructor(deps: ReconcileDeps, scratch: Scratch) {
    this.#deps = deps;
    this.#scratch = scratch;
    this.#block = deps.contracts.deployedAt - 1;
  }

  static async run<T>(deps: ReconcileDeps, work: (replay: Replay) => Promise<T>): Promise<T> {
    const folder = await mkdtemp(join(tmpdir(), "moneta-reconcile-"));
    try {
      const scratch = await openScratch(join(folder, "chain.sqlite"), deps.contracts.deployedAt - 1);
      try {
        return await work(new Replay(deps, scratch));
      } finally {
        await scratch.close();
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  get block(): number {
    return this.#block;
  }

  get chain(): Scratch["db"] {
    return this.#scratch.db;
  }

  /**
   * Runs one comparison in a transaction of the real database while both databases are at the same block. If a running
   * indexer advances meanwhile, reads the new blocks and tries again.
   */
  async compare<T>(work: (trx: Trx, block: number) => Promise<T>): Promise<T> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const result = await this.#deps.database.write(async (trx) => {
        const checkpoint = Number(await readMeta(trx, "checkpoint"));
        if (checkpoint !== this.#block) return { checkpoint };
        const stored = await storedBlock(trx, checkpoint);
        if (stored !== undefined && this.#hash !== null && stored.hash !== this.#hash) return { checkpoint: -1 };
        return { done: await work(trx, checkpoint) };
      });
      if ("done" in result) return result.done;
      if (result.checkpoint < this.#block)
        throw new ReconcileError("There was a reorg during the comparison. Run this again.");
      await this.#extend(result.checkpoint);
    }
    throw new ReconcileError(
      "The running service indexes blocks faster than this command. Stop the service and run this again.",
    );
  }

  async #extend(upTo: number): Promise<void> {
    const { client, contracts, database, logger } = this.#deps;
    await this.#scratch.takeCollections(database.read);
    const watched = await everWatchedContracts(database.read);
    const head = await client.headNumber();
    await inRanges(client, this.#block + 1, upTo, async (from, to) => {
      const remember = to + 1;
      const read = await readRange(client, contracts, watched, { from, to, head, remember, first: null });
      const range = await prepareRange(
        {
          database,
          contracts,
          logger,
          receipts: (hashes) => Promise.resolve(hashes.map(() => null)),
          // Holdings of foreign contracts are compared separately.
          holdings: (queries) => Promise.resolve(queries.map(() => undefined)),
        },
        watched,
        read,
        { from, to, confirmed: 0, remember },
      );
      await this.#scratch.apply({ ...range, batches: [], cancelled: [], foreignHoldings: [] });
      this.#block = to;
      this.#hash = read.headers.get(to)?.hash ?? null;
    });
  }
}
