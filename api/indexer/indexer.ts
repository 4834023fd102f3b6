import type { Logger } from "pino";

import type { Block, ChainClient } from "../chain/client.ts";
import { type ContractAddresses, storedAddresses } from "../chain/contracts.ts";
import { ChainUnavailable, describeError, NodesDivided } from "../chain/errors.ts";
import { RangeTooLarge } from "../chain/query-logs.ts";
import type { LeaseTimes } from "../shared/lease.ts";
import type { Metrics } from "../shared/metrics.ts";
import type { Signals } from "../shared/signal.ts";
import { WorkLoop } from "../shared/work-loop.ts";
import { newestBlocks, storedBlock } from "../store/ledger/blocks.ts";
import type { Database } from "../store/db/database.ts";
import { lockLedger } from "../store/db/sql.ts";
import { readContracts, readMeta, replaceMeta } from "../store/db/meta.ts";
import { WorkLease } from "../store/db/work-lease.ts";
import { rollback } from "../store/ledger/rollback.ts";
import { confirmUpTo } from "../store/requests/settle-confirmed.ts";
import { finalChanges } from "../store/requests/requests.ts";
import { WatchedCache } from "../store/ledger/watched.ts";
import { closeReverted } from "./reverted.ts";
import { MissingCosts } from "./costs.ts";
import { BlockWriter, type SliceSize } from "./store-blocks.ts";
import { ReadAhead } from "./read-ahead.ts";
import type { ReceiptCheck } from "./receipt-check.ts";

interface IndexerDeps {
  database: Database;
  client: ChainClient;
  contracts: ContractAddresses;
  signals: Signals;
  logger: Logger;
  /** A block is final once it is this many blocks deep, itself included. */
  confirmations: number;
  /** How often to ask the node for its newest block, in milliseconds. */
  pollInterval: number;
  now: () => number;
  /** Gas limit of one call of a foreign contract. */
  foreignCallGas: number;
  /** Most transfer logs of a foreign contract in 500 blocks. */
  maxForeignLogs: number;
  metrics: Pick<Metrics, "requests" | "batchGas" | "reorg">;
  /** Absent: the node's logs are not checked against the receipts of their blocks. */
  receipts?: ReceiptCheck | null;
  /** null: no lease. The checkpoint alone then keeps two writers apart. */
  lease: LeaseTimes | null;
  /** Absent: slices adapt to how long commits take. */
  sliceSize?: Pick<SliceSize, "value" | "took">;
}

/** Block hashes kept beyond those that the confirmations need. A reorg up to this much deeper is still detected. */
const REMEMBER = 256;
/**
 * Milliseconds for which a node that is behind the checkpoint, on the same chain, counts as lagging. After that its head
 * counts as a reorg.
 */
const BEHIND_GRACE = 30_000;

/** Milliseconds for which nodes that do not agree are only waited for: a reorg does not reach all of them at once. */
const DIVIDED_GRACE = 10_000;

/** Follows the chain and stores what its blocks say: ownership, outcomes, history, checkpoint. */
export class Indexer {
  readonly #deps: IndexerDeps;
  /** One process follows the chain. null: for `reconcile`, which may read the same blocks as a running service. */
  readonly #lease: WorkLease | null;
  readonly #loop: WorkLoop;
  readonly #watched = new WatchedCache();
  readonly #missingCosts = new MissingCosts();
  /** When the node was first seen behind the checkpoint (monotonic clock). */
  #behindSince: number | null = null;
  /** When the nodes were first seen to disagree without a majority (monotonic clock). */
  #dividedSince: number | null = null;
  /** The node that the last step read. What was read ahead is of that node. */
  #node: number | null = null;
  readonly #ahead: ReadAhead;
  readonly #store: BlockWriter;

  constructor(deps: IndexerDeps) {
    this.#lease = deps.lease === null ? null : new WorkLease("indexer", { ...deps, times: deps.lease });
    this.#deps = { ...deps, database: this.#lease?.fenced ?? deps.database };
    this.#ahead = new ReadAhead(deps.client, () => this.#contracts(), deps.receipts);
    this.#store = new BlockWriter(this.#deps);
    this.#loop = new WorkLoop({
      logger: deps.logger,
      wake: deps.signals.blocks,
      pollInterval: deps.pollInterval,
      messages: {
        failed: "the indexer cannot follow the chain; it retries",
        recovered: "the indexer follows the chain again",
      },
      describe: describeError,
    });
  }

  get lastError(): string | null {
    return this.#loop.lastError;
  }

  async run(abort: AbortSignal): Promise<void> {
    const step = async () => ((await this.step()) ? "again" : "idle");
    await this.#loop.run(
      async (stop) => (this.#lease === null ? step() : ((await this.#lease.step(stop, step)) ?? this.#standBy())),
      abort,
    );
    // First, so that another process need not wait for what is still being read.
    await this.#lease?.release();
    await this.#ahead.idle();
  }

  /** Another process does the work. */
  #standBy(): "idle" {
    this.#ahead.forget();
    return "idle";
  }

  /** Stores the next range of blocks, or rolls back. @returns whether there may be more right away. */
  step(): Promise<boolean> {
    // Head, hashes and logs of a range come from one node. Until its commit, a step changes nothing, so another node can do it.
    return this.#deps.client.nodes.session(() => this.#stepOfNode());
  }

  async #stepOfNode(): Promise<boolean> {
    const { number } = this.#deps.client.nodes;
    if (number !== this.#node) this.#ahead.forget();
    this.#node = number;
    try {
      return await this.#step();
    } catch (error) {
      this.#ahead.forget();
      // The provider's limit of blocks is known better now.
      if (error instanceof RangeTooLarge) return true;
      throw error;
    }
  }

  async #step(): Promise<boolean> {
    const { database, client, confirmations } = this.#deps;
    const checkpoint = await this.#checkpoint();
    const { head, blocks } = await client.headAnd([checkpoint, checkpoint + 1]);
    const [at = null, next = null] = blocks;
    if (head < checkpoint) {
      // Whatever time passes: while another node is at the checkpoint, this one is only behind.
      if (await client.nodes.isAnotherAt(checkpoint)) client.nodes.skipBehind(head, checkpoint);
      if (this.#mayLag() && (await this.#isOnChain(head))) return false;
    }
    if (head < checkpoint || !(await this.#isStored(checkpoint, at))) {
      if (head >= checkpoint && (await this.#isDivided(checkpoint))) return false;
      this.#ahead.forget();
      await this.#rollBack(checkpoint, head);
      return true;
    }
    this.#behindSince = this.#dividedSince = null;
    client.nodes.agrees();
    if (head === checkpoint) {
      await this.#confirm(checkpoint, head - confirmations + 1);
      await this.#closeReverted(head, checkpoint);
      return false;
    }
    const remember = head - confirmations - REMEMBER;
    const watched = await this.#watched.read(database.read);
    const range = await this.#ahead.take({ from: checkpoint + 1, head, remember, first: next, watched });
    const first = range.read.headers.get(range.from);
    const previous = await storedBlock(database.read, checkpoint);
    const follows = previous === undefined || first?.parentHash === previous.hash;
    // A reorg may have dropped what was read ahead.
    if (!follows || (next !== null && first !== undefined && first.hash !== next.hash)) {
      this.#ahead.forget();
      return true;
    }
    this.#ahead.begin(range, { head, remember });
    if (!(await this.#store.store(range))) {
      this.#ahead.forget();
      return true;
    }
    await this.#closeReverted(range.head, range.to);
    return range.to < head;
  }

  /** Settles what is deep enough although no block came: CONFIRMATIONS may be lower since the last start. */
  async #confirm(checkpoint: number, final: number): Promise<void> {
    const { database, signals, now } = this.#deps;
    const confirmed = Number((await readMeta(database.read, "confirmed_block")) ?? final);
    if (confirmed >= final) return;
    const settled = await database.write((trx) => confirmUpTo(trx, checkpoint, final, now()));
    this.#deps.metrics.requests(finalChanges(settled, now()));
    signals.deliveries.notify();
  }

  /**
   * Only near the head. Far behind it, logs that show a batch's outcome may still be unread, and the node may no longer have
   * the old state.
   */
  async #closeReverted(head: number, read: number): Promise<void> {
    const final = head - this.#deps.confirmations + 1;
    if (final >= 0 && read >= final) await closeReverted(this.#deps, final);
    await this.#missingCosts.record(this.#deps);
  }

  /** Another process may have started with a factory that is newer than this process, and may use it. */
  async #contracts(): Promise<ContractAddresses> {
    const { database, contracts } = this.#deps;
    const stored = await readContracts(database.read);
    const current = stored === null ? contracts : storedAddresses.parse(stored);
    return current.factories.length > contracts.factories.length ? current : contracts;
  }

  async #checkpoint(): Promise<number> {
    const stored = await readMeta(this.#deps.database.read, "checkpoint");
    if (stored === null) throw new Error("the database has no checkpoint: start the service once with this database");
    return Number(stored);
  }

  #mayLag(): boolean {
    this.#behindSince ??= performance.now();
    return performance.now() - this.#behindSince < BEHIND_GRACE;
  }

  /**
   * The node has another block at the checkpoint than the one that is stored. With several nodes, that counts as a reorg if no
   * other node has the stored block, or most have not. A node that is outvoted is put aside.
   * @returns whether the nodes are divided without a majority: then nothing is stored or rolled back until they agree.
   * @throws NodeDisagrees, NodesDivided
   */
  async #isDivided(checkpoint: number): Promise<boolean> {
    const { database, client } = this.#deps;
    if (client.nodes.count === 1) return false;
    const stored = await storedBlock(database.read, checkpoint);
    if (stored === undefined) return false;
    const { same, other, outvoted } = await client.nodes.votesOn(checkpoint, stored.hash);
    if (same > other + 1) client.nodes.putAside(checkpoint);
    if (same < other + 1 && !(outvoted && other === 0)) return false;
    this.#dividedSince ??= performance.now();
    if (performance.now() - this.#dividedSince < DIVIDED_GRACE) return true;
    client.nodes.disagree(checkpoint);
    throw new NodesDivided(checkpoint);
  }

  async #isOnChain(number: number): Promise<boolean> {
    const [block = null] = await this.#deps.client.blocks([number]);
    return this.#isStored(number, block);
  }

  /** Whether the node's block at a height is the stored one. True when none is stored. */
  async #isStored(number: number, block: Block | null): Promise<boolean> {
    const stored = await storedBlock(this.#deps.database.read, number);
    if (stored === undefined) return true;
    if (block === null) throw new ChainUnavailable("the node no longer has a block that it had before");
    return block.hash === stored.hash;
  }

  /** Finds the newest stored block that is still on the chain and undoes everything after it. */
  async #rollBack(checkpoint: number, head: number): Promise<void> {
    const { database, client, logger } = this.#deps;
    let below = Math.min(checkpoint, head) + 1;
    for (;;) {
      const stored = await newestBlocks(database.read, 50, below);
      const last = stored.at(-1);
      if (last === undefined) {
        throw new Error(
          `the node's chain shares no stored block with this database: check that ${client.nodes.where} is a node of the right chain`,
        );
      }
      const blocks = await client.blocks(stored.map((block) => block.number));
      const common = stored.find((block, index) => blocks[index]?.hash === block.hash);
      if (common !== undefined) {
        logger.warn({ fork: common.number, checkpoint }, "the chain was reorganized; rolling back to the fork");
        const rolledBack = await database.write(async (trx) => {
          await lockLedger(trx);
          // Otherwise another process has stored or rolled back blocks meanwhile.
          if (!(await replaceMeta(trx, "checkpoint", checkpoint.toString(), checkpoint.toString()))) return false;
          await rollback(trx, common.number);
          return true;
        });
        if (rolledBack) this.#deps.metrics.reorg(checkpoint - common.number);
        return;
      }
      below = last.number;
    }
  }
}
