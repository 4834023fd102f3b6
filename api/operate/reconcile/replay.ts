import { join } from "node:path";

import type { ChainClient } from "../../chain/client.ts";
import { RangeTooLarge } from "../../chain/query-logs.ts";
import { attributeRange } from "../../indexer/attribute-range.ts";
import { readRange } from "../../indexer/read-range.ts";
import { makeFolder } from "../../shared/folder.ts";
import { checkpointOf } from "../../store/db/meta.ts";
import { lockLedger, type Trx } from "../../store/db/sql.ts";
import { storedBlock } from "../../store/ledger/blocks.ts";
import { removeHidden } from "../../store/ledger/hidden-history.ts";
import { readEverIndexedContracts } from "../../store/ledger/indexed-contracts.ts";
import { removeScratch, Scratch } from "../../store/reconcile/scratch.ts";
import { OperatorError } from "../operator-error.ts";
import type { ReconcileDeps, Run } from "./run.ts";

/** Retries while a running indexer advances, before this gives up. */
const MAX_ATTEMPTS = 100;
const REORG = "There was a reorg of blocks that were read. Run this again; it reads all blocks again.";

type Last = Awaited<ReturnType<Scratch["last"]>>;

/** The chain, read again from the first block into a temporary database, up to the checkpoint of the real one. */
export class Replay {
  readonly #deps: ReconcileDeps;
  readonly #run: Run;
  readonly #scratch: Scratch;
  #last: Last;
  /** The first block that this process reads. */
  readonly from: number;

  private constructor(deps: ReconcileDeps, run: Run, scratch: Scratch, last: Last) {
    this.#deps = deps;
    this.#run = run;
    this.#scratch = scratch;
    this.#last = last;
    this.from = last.number + 1;
  }

  /** What was read is kept in a file until `work` is done. After a crash, the next process with the same run goes on. */
  static async run<T>(deps: ReconcileDeps, run: Run, work: (replay: Replay) => Promise<T>): Promise<T> {
    makeFolder(deps.folder);
    const file = join(deps.folder, "chain.sqlite");
    const open = () => Scratch.open(file, run.id, deps.contracts.deployedAt - 1);
    let scratch = await open();
    try {
      if (!(await isCurrent(deps, await scratch.last()))) {
        await scratch.close();
        removeScratch(file);
        scratch = await open();
      }
      const result = await work(new Replay(deps, run, scratch, await scratch.last()));
      await scratch.close();
      removeScratch(file);
      return result;
    } finally {
      await scratch.close();
    }
  }

  get block(): number {
    return this.#last.number;
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
      const { number, hash } = this.#last;
      const result = await this.#run.write(async (trx) => {
        await lockLedger(trx);
        const checkpoint = await checkpointOf(trx);
        if (checkpoint !== number) return { checkpoint };
        const stored = await storedBlock(trx, checkpoint);
        if (stored !== undefined && hash !== null && stored.hash !== hash) return { checkpoint: -1 };
        // The indexer that is storing their block begins it again.
        await removeHidden(trx);
        return { done: await work(trx, checkpoint) };
      });
      if ("done" in result) return result.done;
      if (result.checkpoint < number) throw new OperatorError(REORG);
      await this.#extend(result.checkpoint);
    }
    throw new OperatorError(
      "The running service indexes blocks faster than this command. Stop the service and run this again.",
    );
  }

  async #extend(upTo: number): Promise<void> {
    const { client, contracts, database } = this.#deps;
    await this.#scratch.copyCollections(database.read);
    const indexed = await readEverIndexedContracts(database.read);
    const head = await client.headNumber();
    await inRanges(client, this.block + 1, upTo, async (from, to) => {
      // The header of the last block tells the next process whether the chain is still the same.
      const read = await readRange(client, contracts, { from, to, head, remember: to, indexed, first: null });
      const { attributed } = await attributeRange(this.#deps, read);
      const stored = await this.#scratch.apply(attributed);
      if (!stored) throw new OperatorError(REORG);
      this.#last = { number: to, hash: read.headers.get(to)?.hash ?? null };
    });
  }
}

/** Whether the last block that an interrupted run has read is on the chain, and not above the checkpoint. */
async function isCurrent(deps: ReconcileDeps, last: Last): Promise<boolean> {
  if (last.number < deps.contracts.deployedAt) return true;
  if (last.number > (await checkpointOf(deps.database.read))) return false;
  const [block = null] = await deps.client.blocks([last.number]);
  return block !== null && block.hash === last.hash;
}

/**
 * Reads blocks in ranges that the provider accepts, one after the other.
 * @param read reads and keeps one range. It must keep nothing when it throws.
 */
export async function inRanges(
  client: ChainClient,
  from: number,
  to: number,
  read: (from: number, to: number) => Promise<void>,
): Promise<void> {
  for (let start = from; start <= to;) {
    const end = Math.min(to, start + client.logLimits.blocks.value - 1);
    try {
      await read(start, end);
    } catch (error) {
      if (error instanceof RangeTooLarge) continue;
      throw error;
    }
    start = end + 1;
  }
}
