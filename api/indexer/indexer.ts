import type { Block } from "../chain/client.ts";
import { type ContractAddresses, storedAddresses } from "../chain/contracts.ts";
import { ChainUnavailable, describeError, NodeBehind, NodeDisagrees } from "../chain/errors.ts";
import { RangeTooLarge } from "../chain/query-logs.ts";
import type { Condition } from "../domain/conditions.ts";
import { WorkLoop } from "../shared/work-loop.ts";
import { checkpointOf, readContracts, readMeta, replaceMeta } from "../store/db/meta.ts";
import { lockLedger } from "../store/db/sql.ts";
import { WorkLease } from "../store/db/work-lease.ts";
import { firstUnsettled, newestBlocks, storedBlock } from "../store/ledger/blocks.ts";
import { IndexedContractsCache } from "../store/ledger/indexed-contracts.ts";
import { rollback, rollbackStep } from "../store/ledger/rollback.ts";
import { finalChanges } from "../store/requests/requests.ts";
import { settleFinal } from "../store/requests/settle-final.ts";
import { Agreement, type Contradicted } from "./agreement.ts";
import { attributeRange } from "./attribute-range.ts";
import type { IndexerContext } from "./context.ts";
import { MissingCosts } from "./costs.ts";
import { addNodeFacts } from "./node-facts.ts";
import { ReadAhead } from "./read-ahead.ts";
import type { ChainRange } from "./read-range.ts";
import { restOf } from "./slices.ts";
import { BlockWriter, removeHiddenHistory } from "./store-blocks.ts";
import { stoppingRow, WaitingReason } from "./waiting-reason.ts";
import { closeBatchesWithoutEffect, type Warned } from "./without-effect.ts";

/** Block hashes kept beyond those that the confirmations need. A reorg up to this much deeper is still detected. */
const REMEMBER = 256;
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
    const { client, leaseTimes, logger, receipts } = context;
    this.#lease = leaseTimes === null ? null : new WorkLease("indexer", { ...context, times: leaseTimes });
    const database = this.#lease?.fenced ?? context.database;
    this.#context = { ...context, database };
    const contracts = () => this.#contracts();
    const indexed = () => this.#indexed.read(database.read);
    this.#ahead = new ReadAhead({ client, contracts, indexed, receipts });
    const isProven = async () => (await receipts?.isProving()) ?? false;
    this.#agreement = new Agreement({ database, client, contracts, indexed, isProven });
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

    // The node has another block at the checkpoint: a reorg. What it dropped is undone.
    if (head < checkpoint && (await this.#isLagging(head, checkpoint))) return false;
    if (head < checkpoint || !(await this.#isStored(checkpoint, at))) {
      if (head >= checkpoint && !(await this.#agreement.isReorg(checkpoint))) return false;
      await this.#rollBack(checkpoint, await this.#findFork(checkpoint, head));
      return true;
    }

    // Final are blocks that are deep enough, up to the newest one about which the nodes agree.
    this.#behindSince = null;
    const deep = this.#newestDeep(head);
    const { agreed, verdict, more } = await this.#agreement.ofStored(checkpoint, deep);
    if (verdict.kind !== "agreed" && verdict.kind !== "waits") return this.#undo(checkpoint, agreed, verdict);
    const isUnagreed = agreed < Math.min(deep, checkpoint);

    // Nothing is new, or too much waits for the nodes: what became final is settled.
    if (head === checkpoint || (isUnagreed && checkpoint - agreed >= MOST_AHEAD)) {
      await this.#settleStored(checkpoint, Math.min(deep, agreed));
      await this.#afterBlocks(head, checkpoint, agreed);
      return more;
    }

    // The next range is read, and must follow the stored block. What undoes a block is kept until the block is final.
    const remember = (isUnagreed ? agreed + 1 : deep) - 1 - REMEMBER;
    const range = await this.#ahead.take({ from: checkpoint + 1, head, remember, first: next });
    if (!(await this.#follows(range, next))) return true;

    // The other nodes are asked about those of its blocks that are final already.
    const said = isUnagreed || deep <= checkpoint ? null : await this.#agreement.ofRead(range, deep);
    if (said?.kind === "contradicted") return this.#refuse(said);
    // Far behind the head nothing is kept to undo blocks, so blocks without agreement are not stored.
    if (said?.kind !== "agreed" && range.from < range.remember)
      throw new ChainUnavailable(this.#agreement.reason ?? "the nodes have not agreed yet");
    // What becomes final: the deep blocks of the range, or only what was agreed before.
    const confirmed = isUnagreed || said?.kind === "waits" ? agreed : this.#newestDeep(range.head);
    const finalBlocks = { confirmed: Math.max(0, confirmed), failuresUpTo: this.#agreement.failuresUpTo };
    this.#ahead.begin(range, { head, remember });

    // Slice by slice, events get their requests. One transaction stores outcomes, holdings, history and the checkpoint, and settles
    // every request that is final (`settleFinal`): `completed` or `failed`, its event and its deliveries.
    try {
      for (let rest: ChainRange | null = range; rest !== null;) {
        const slice = await this.#writer.cut(rest);
        const attributed = await attributeRange(this.#context, slice, finalBlocks);
        const complete = await addNodeFacts(this.#context, slice, attributed);
        if (!(await this.#writer.store(slice, complete))) return true;
        this.#agreement.stored(slice);
        rest = restOf(slice, complete.collections);
      }
    } catch (error) {
      return await this.#doubt(range, error);
    }
    await this.#afterBlocks(range.head, range.to, confirmed);
    return range.to < head;
  }

  /** The newest block that is deep enough to become final. */
  #newestDeep(head: number): number {
    return head - this.#context.confirmations + 1;
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
        await rollback(trx, to);
        return true;
      });
      if (!rolledBack) return;
      last = to;
    }
    metrics.reorg(checkpoint - fork);
  }

  /** Stored blocks are wrong, or nobody knows which of their logs were stored: they are undone, and read again. */
  async #undo(checkpoint: number, agreed: number, verdict: Contradicted | { kind: "unknown" }): Promise<boolean> {
    if (verdict.kind === "contradicted") {
      const { block, nodes } = verdict;
      this.#context.logger.warn(
        { condition: "nodes_disagree" satisfies Condition, block, nodes, agreed, checkpoint },
        "most nodes say that stored blocks are wrong; rolling back to the last block about which they agreed",
      );
    }
    await this.#rollBack(checkpoint, agreed);
    return verdict.kind === "unknown" || this.#refuse(verdict);
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
    const verdict = await this.#agreement.ofRead(range, range.to);
    if (verdict.kind === "contradicted") return this.#refuse(verdict);
    throw error;
  }

  /** Whether a range that was read continues the stored blocks. A reorg may have dropped what was read ahead. */
  async #follows({ from, headers }: ChainRange, next: Block | null): Promise<boolean> {
    const first = headers.get(from);
    const previous = await storedBlock(this.#context.database.read, from - 1);
    if (previous !== undefined && first?.parentHash !== previous.hash) return false;
    return next === null || first === undefined || first.hash === next.hash;
  }

  /** Settles without a new block: the nodes may have agreed only now, or CONFIRMATIONS was lowered. */
  async #settleStored(checkpoint: number, confirmed: number): Promise<void> {
    const { database, metrics, signals, now } = this.#context;
    const { failuresUpTo } = this.#agreement;
    const before = Number((await readMeta(database.read, "confirmed_block")) ?? confirmed);
    // A second node may have said the same of failures that have waited for it.
    const waited = Math.min(before, failuresUpTo);
    if (before >= confirmed && (await firstUnsettled(database.read, waited)) === null) return;
    const settled = await database.write(async (trx) => {
      await lockLedger(trx);
      // Otherwise another process has stored or rolled back blocks meanwhile.
      if ((await checkpointOf(trx)) !== checkpoint) return [];
      return settleFinal(trx, { confirmed: Math.max(before, confirmed), failuresUpTo }, now());
    });
    metrics.requests(finalChanges(settled, now()));
    signals.deliveries.notify();
  }

  /**
   * Closes batches only near the head: far behind it, logs that show a batch's outcome may still be unread, and the node may no
   * longer have the old state. Missing costs are recorded at any distance.
   */
  async #afterBlocks(head: number, read: number, agreed: number): Promise<void> {
    const deep = this.#newestDeep(head);
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
