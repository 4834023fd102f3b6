import type { Block } from "../chain/client.ts";
import { type ContractAddresses, storedAddresses } from "../chain/contracts.ts";
import { ChainUnavailable, describeError, NodeBehind, NodeDisagrees } from "../chain/errors.ts";
import { RangeTooLarge } from "../chain/query-logs.ts";
import type { Condition } from "../domain/conditions.ts";
import { WorkLoop } from "../shared/work-loop.ts";
import { checkpointOf, readContracts, readMeta, replaceMeta } from "../store/db/meta.ts";
import { lockLedger } from "../store/db/sql.ts";
import { WorkLease } from "../store/db/work-lease.ts";
import { continuesStored, firstUnsettled, newestBlocks, storedBlock } from "../store/ledger/blocks.ts";
import { IndexedContractsCache } from "../store/ledger/indexed-contracts.ts";
import { rollback, rollbackStep } from "../store/ledger/rollback.ts";
import { lacksTokenEvents } from "../store/ledger/token-events.ts";
import { finalChanges } from "../store/requests/requests.ts";
import { settleFinal } from "../store/requests/settle-final.ts";
import { Agreement, type Contradicted, type Undo } from "./agreement.ts";
import { attributeRange } from "./attribute-range.ts";
import type { IndexerContext } from "./context.ts";
import { MissingCosts } from "./costs.ts";
import { addNodeFacts } from "./node-facts.ts";
import { ReadAhead } from "./read-ahead.ts";
import type { ChainRange } from "./read-range.ts";
import { BlockWriter, makeMoreTokenEvents, removeHiddenHistory } from "./store-blocks.ts";
import { stoppingRow, WaitingReason } from "./waiting-reason.ts";
import { closeBatchesWithoutEffect, type Warned } from "./without-effect.ts";

/**
 * Milliseconds for which a node that is behind the checkpoint, on the same chain, counts as lagging. After that its head
 * counts as a reorg.
 */
const BEHIND_GRACE = 30_000;
/** At most this many blocks are stored while the nodes have not agreed about those before. */
const MOST_AHEAD = 50_000;
/** How often the same block is read again at once, while nodes say that what was read is wrong. */
const MOST_REFUSED = 3;

/** Follows the chain and stores what its blocks say: ownership, outcomes, history, checkpoint. */
export class Indexer {
  readonly #context: IndexerContext;
  /** One process follows the chain. null: for `reconcile`, which may read the same blocks as a running service. */
  readonly #lease: WorkLease | null;
  readonly #loop: WorkLoop;
  readonly #indexed = new IndexedContractsCache();
  readonly #ahead: ReadAhead;
  readonly #agreement: Agreement;
  readonly #writer: BlockWriter;
  readonly #reason: WaitingReason;
  readonly #missingCosts = new MissingCosts();
  readonly #warned: Warned = new Map();
  /** When the node was first seen behind the checkpoint (monotonic clock). */
  #behindSince: number | null = null;
  /** The block that most nodes contradicted last, and how often in a row. */
  #refused = { block: -1, times: 0 };

  constructor(context: IndexerContext) {
    const { client, confirmations, leaseTimes, logger, receipts } = context;
    this.#lease = leaseTimes === null ? null : new WorkLease("indexer", { ...context, times: leaseTimes });
    const database = this.#lease?.fenced ?? context.database;
    this.#context = { ...context, database };
    const contracts = () => this.#contracts();
    const indexed = () => this.#indexed.read(database.read);
    this.#ahead = new ReadAhead({ client, contracts, indexed, receipts });
    const isProven = async () => (await receipts?.isProving()) ?? false;
    this.#agreement = new Agreement({ database, client, confirmations, contracts, indexed, isProven });
    this.#writer = new BlockWriter(this.#context);
    this.#reason = new WaitingReason(this.#context, this.#agreement);
    this.#loop = new WorkLoop({
      logger,
      wake: context.signals.blocks,
      pollInterval: context.pollInterval,
      messages: {
        failed: "the indexer cannot follow the chain; it retries",
        recovered: "the indexer follows the chain again",
      },
      describe: describeError,
      fieldsOf: (error) => (stoppingRow(error) === null ? {} : { condition: "row_parked" satisfies Condition }),
    });
  }

  get lastError(): string | null {
    return this.#loop.lastError ?? this.#agreement.problem;
  }

  async run(abort: AbortSignal): Promise<void> {
    const step = async () => ((await this.step()) ? "again" : "idle");
    await this.#loop.run(async (stop) => {
      if (this.#lease === null) return step();
      return (await this.#lease.step(stop, () => this.#reason.of(step))) ?? this.#standBy();
    }, abort);
    // First, so that another process need not wait for what is still being read.
    await this.#lease?.release();
    await this.#ahead.idle();
  }

  /** Another process does the work. */
  #standBy(): "idle" {
    this.#reason.forget();
    this.#ahead.forget();
    this.#agreement.standBy();
    return "idle";
  }

  /** Stores the next range of blocks, or rolls back. @returns whether there may be more right away. */
  async step(): Promise<boolean> {
    try {
      // Head, hashes and logs of a range come from one node. Until its commit, a step changes nothing, so another node can do it.
      return await this.#context.client.nodes.session(() => this.#index());
    } catch (error) {
      // The provider's limit of blocks is known better now.
      if (error instanceof RangeTooLarge) return true;
      throw error;
    }
  }

  /** What happens to blocks, in this order. @returns whether there may be more right away. */
  async #index(): Promise<boolean> {
    const checkpoint = await this.#checkpoint();
    const { head, blocks } = await this.#context.client.headAnd([checkpoint, checkpoint + 1]);
    const [at = null, next = null] = blocks;
    if (head < checkpoint || !(await this.#isStored(checkpoint, at))) return this.#reorganize(checkpoint, head);
    this.#behindSince = null;

    // Final are the blocks that are deep enough, up to the newest one about which the nodes agree. What most contradict is undone.
    const stored = await this.#agreement.ofStored(checkpoint, head);
    if (stored.kind === "undo") return this.#undo(checkpoint, stored);

    // Nothing is new, or too much waits for the nodes: what became final is settled.
    if (head === checkpoint || (stored.isWaiting && checkpoint - stored.confirmed >= MOST_AHEAD)) {
      const more = await this.#settleStored(checkpoint, stored.confirmed, this.#agreement.newestDeep(head));
      await this.#afterBlocks(head, checkpoint, stored.confirmed);
      return stored.more || more;
    }

    // The next range is read, and must continue the stored blocks.
    const { remember } = stored;
    const range = await this.#ahead.take({ from: checkpoint + 1, head, remember, first: next });
    if (!(await this.#continues(range, next))) return true;

    // With it, its own deep blocks become final, if nothing before them waits and the other nodes have them, too.
    const read = await this.#agreement.ofRead(range, head, stored);
    if (read.kind === "contradicted") return this.#refuse(read);
    this.#ahead.begin(range, { head, remember });

    // Slice by slice, events get their requests. One transaction stores outcomes, holdings, history and the checkpoint, and settles
    // every request that is final: `completed` or `failed`. It also stores the events of requests and of tokens, and their deliveries.
    const deep = this.#agreement.newestDeep(head);
    const final = { confirmed: Math.max(0, read.confirmed), failuresUpTo: this.#agreement.failuresUpTo, deep };
    try {
      for (let rest: ChainRange | null = range; rest !== null;) {
        const slice = await this.#writer.cutNext(rest);
        const { attributed, owners, collections } = await attributeRange(this.#context, slice);
        const toStore = await addNodeFacts(this.#context, slice, attributed, owners);
        if (!(await this.#writer.store(slice, toStore, final))) return true;
        this.#agreement.stored(slice);
        // The rest may have logs of a collection that this slice has created.
        rest = slice.rest && { ...slice.rest, indexed: { ...slice.rest.indexed, collections } };
      }
    } catch (error) {
      return await this.#doubt(range, error);
    }
    await this.#afterBlocks(range.head, range.to, read.confirmed);
    return range.to < head;
  }

  /**
   * The node has another block at the checkpoint than the stored one, or ends before it. What happens then, in this order:
   * 1. Seen: a node that only lags is waited for, and so are nodes of which half have the stored block.
   * 2. The fork is found: the newest stored block that the node still has.
   * 3. The blocks after it are rolled back, newest first.
   * 4. The next step reads the node's blocks from there on.
   * @returns whether there may be more right away.
   */
  async #reorganize(checkpoint: number, head: number): Promise<boolean> {
    const waits =
      head < checkpoint ? await this.#isLagging(head, checkpoint) : !(await this.#agreement.isReorg(checkpoint));
    if (waits) return false;
    await this.#rollBack(checkpoint, await this.#findFork(checkpoint, head));
    return true;
  }

  /** Whether the node is behind the checkpoint, with the same blocks. */
  async #isLagging(head: number, checkpoint: number): Promise<boolean> {
    const { client } = this.#context;
    // However long it takes: while another node has reached the checkpoint, this one is only behind.
    if (await client.nodes.isAnotherAt(checkpoint)) return client.nodes.skip(new NodeBehind(head, checkpoint));
    this.#behindSince ??= performance.now();
    if (performance.now() - this.#behindSince >= BEHIND_GRACE) return false;
    const [block = null] = await client.blocks([head]);
    return this.#isStored(head, block);
  }

  /** Whether the node's block at a height is the stored one. True when none is stored. */
  async #isStored(number: number, block: Block | null): Promise<boolean> {
    const stored = await storedBlock(this.#context.database.read, number);
    if (stored === undefined) return true;
    if (block === null) throw new ChainUnavailable("the node no longer has a block that it had before");
    return block.hash === stored.hash;
  }

  /** The newest stored block that the node still has. */
  async #findFork(checkpoint: number, head: number): Promise<number> {
    const { database, client, logger } = this.#context;
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
        return common.number;
      }
      below = last.number;
    }
  }

  /** Undoes all blocks after the fork. */
  async #rollBack(checkpoint: number, fork: number): Promise<void> {
    const { database, metrics } = this.#context;
    this.#agreement.rolledBack(fork);
    for (let last = checkpoint; last > fork;) {
      await removeHiddenHistory(database);
      const to = await rollbackStep(database.read, fork, last);
      const rolledBack = await database.write(async (trx) => {
        await lockLedger(trx);
        // Otherwise another process has stored or rolled back blocks meanwhile.
        if (!(await replaceMeta(trx, "checkpoint", last.toString(), last.toString()))) return false;
        await rollback(trx, to, this.#context.now());
        return true;
      });
      if (!rolledBack) return;
      last = to;
    }
    metrics.reorg(checkpoint - fork);
  }

  /** Stored blocks are wrong, or nobody knows which of their logs were stored: they are rolled back, and read again. */
  async #undo(checkpoint: number, { downTo: agreed, contradicted }: Undo): Promise<boolean> {
    if (contradicted !== null) {
      const { block, nodes } = contradicted;
      this.#context.logger.warn(
        { condition: "nodes_disagree" satisfies Condition, block, nodes, agreed, checkpoint },
        "most nodes say that stored blocks are wrong; rolling back to the last block about which they agreed",
      );
    }
    await this.#rollBack(checkpoint, agreed);
    return contradicted === null || this.#refuse(contradicted);
  }

  /** @throws NodeDisagrees when most nodes contradict the node that is read: the next one does the step again. */
  #refuse({ block, nodes }: Contradicted): true {
    const { client } = this.#context;
    this.#refused = this.#refused.block === block ? { block, times: this.#refused.times + 1 } : { block, times: 1 };
    if (nodes.includes(client.nodes.number))
      throw new NodeDisagrees(`the other nodes contradict ${client.nodes.where} about block ${block.toString()}`);
    if (this.#refused.times > MOST_REFUSED) {
      this.#refused = { block, times: 0 };
      throw new ChainUnavailable(
        `the nodes agree about block ${block.toString()}, but each time that it is read again, the answer differs from that`,
      );
    }
    return true;
  }

  /** Logs that do not fit what the database has may be a lie of this node: the others are asked at once. @throws the error */
  async #doubt(range: ChainRange, error: unknown): Promise<boolean> {
    if (this.#context.client.nodes.count === 1 || error instanceof ChainUnavailable) throw error;
    const verdict = await this.#agreement.compare(range.to, range.headers.get(range.to), range);
    if (verdict.kind === "contradicted") return this.#refuse(verdict);
    throw error;
  }

  /** Whether a range that was read continues the stored blocks. A reorg may have dropped what was read ahead. */
  async #continues({ from, headers }: ChainRange, next: Block | null): Promise<boolean> {
    const first = headers.get(from);
    const { read } = this.#context.database;
    if (!(await continuesStored(read, { from, parentHash: first?.parentHash ?? "" }))) return false;
    return next === null || first === undefined || first.hash === next.hash;
  }

  /**
   * Settles without a new block: the nodes may have agreed only now, or CONFIRMATIONS was lowered. Makes events of tokens, too, which
   * had to wait for the blocks. @returns whether there are more of these.
   */
  async #settleStored(checkpoint: number, confirmed: number, deep: number): Promise<boolean> {
    const { database, metrics, signals, now } = this.#context;
    const { failuresUpTo } = this.#agreement;
    const before = Number((await readMeta(database.read, "confirmed_block")) ?? confirmed);
    // A second node may have said the same of failures that have waited for it.
    const waited = Math.min(before, failuresUpTo);
    const settles = before < confirmed || (await firstUnsettled(database.read, waited)) !== null;
    if (!settles && !(await lacksTokenEvents(database.read))) return false;
    if (settles) {
      const settled = await database.write(async (trx) => {
        await lockLedger(trx);
        // Otherwise another process has stored or rolled back blocks meanwhile.
        if ((await checkpointOf(trx)) !== checkpoint) return [];
        return settleFinal(trx, { confirmed: Math.max(before, confirmed), failuresUpTo }, now());
      });
      metrics.requests(finalChanges(settled, now()));
    }
    const more = await makeMoreTokenEvents(this.#context, deep);
    signals.deliveries.notify();
    return more;
  }

  /**
   * Closes batches only near the head: far behind it, logs that show a batch's outcome may still be unread, and the node may no
   * longer have the old state. Missing costs are recorded at any distance.
   */
  async #afterBlocks(head: number, read: number, agreed: number): Promise<void> {
    const deep = this.#agreement.newestDeep(head);
    if (deep >= 0 && read >= deep) await closeBatchesWithoutEffect(this.#context, this.#warned, Math.min(deep, agreed));
    await this.#missingCosts.record(this.#context);
  }

  /** Another process may have started with a factory that is newer than this process, and may use it. */
  async #contracts(): Promise<ContractAddresses> {
    const { database, contracts } = this.#context;
    const current = (await readContracts(database.read, storedAddresses)) ?? contracts;
    return current.factories.length > contracts.factories.length ? current : contracts;
  }

  async #checkpoint(): Promise<number> {
    const stored = await readMeta(this.#context.database.read, "checkpoint");
    if (stored === null) throw new Error("the database has no checkpoint: start the service once with this database");
    return Number(stored);
  }
}
