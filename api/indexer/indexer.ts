import type { Block } from "../chain/client.ts";
import { type ContractAddresses, storedAddresses } from "../chain/contracts.ts";
import { ChainUnavailable, describeError, NodeBehind, NodeDisagrees, reasonOfChain } from "../chain/errors.ts";
import { RangeTooLarge } from "../chain/query-logs.ts";
import type { Condition, ParkedKind } from "../domain/conditions.ts";
import type { StoredReason } from "../domain/waiting-for.ts";
import type { LeaseTimes } from "../shared/lease.ts";
import type { Metrics } from "../shared/metrics.ts";
import { WorkLoop } from "../shared/work-loop.ts";
import { firstUnsettled, newestBlocks, storedBlock } from "../store/ledger/blocks.ts";
import { lockLedger } from "../store/db/sql.ts";
import { deleteMeta, readContracts, readMeta, replaceMeta, writeMeta } from "../store/db/meta.ts";
import { isOutage, parkRows, unparkAll } from "../store/db/parked-rows.ts";
import { WorkLease } from "../store/db/work-lease.ts";
import { rollback, rollbackStep } from "../store/ledger/rollback.ts";
import { confirmUpTo } from "../store/requests/settle-final.ts";
import { finalChanges, UnreadableRequest } from "../store/requests/requests.ts";
import { IndexedContractsCache } from "../store/ledger/indexed-contracts.ts";
import { Agreement, type Contradicted } from "./agreement.ts";
import { closeBatchesWithoutEffect, type Warned } from "./without-effect.ts";
import { MissingCosts } from "./costs.ts";
import { BlockRefused, BlockWriter, type BlockWriterDeps } from "./store-blocks.ts";
import { ReadAhead, type ReadBlocks } from "./read-ahead.ts";
import type { ReceiptCheck } from "./receipt-check.ts";

interface IndexerDeps extends BlockWriterDeps {
  /** A block is final once it is this many blocks deep, itself included. */
  confirmations: number;
  /** How often to ask the node for its newest block, in milliseconds. */
  pollInterval: number;
  metrics: Pick<Metrics, "requests" | "batchGas" | "reorg">;
  /** Absent: the node's logs are not checked against the receipts of their blocks. */
  receipts?: Pick<ReceiptCheck, "check" | "isProving"> | null;
  /** null: no lease. The checkpoint alone then keeps two writers apart. */
  lease: LeaseTimes | null;
}

/** Block hashes kept beyond those that the confirmations need. A reorg up to this much deeper is still detected. */
const REMEMBER = 256;
/**
 * Milliseconds for which a node that is behind the checkpoint, on the same chain, counts as lagging. After that its head
 * counts as a reorg.
 */
const BEHIND_GRACE = 30_000;

/** Most blocks that are stored although the nodes have not agreed about those before. */
const MOST_AHEAD = 50_000;
/** How often the same block is read again at once, while nodes say that what was read is wrong. */
const MOST_REFUSED = 3;

/** Follows the chain and stores what its blocks say: ownership, outcomes, history, checkpoint. */
export class Indexer {
  readonly #deps: IndexerDeps;
  /** One process follows the chain. null: for `reconcile`, which may read the same blocks as a running service. */
  readonly #lease: WorkLease | null;
  readonly #loop: WorkLoop;
  readonly #indexed = new IndexedContractsCache();
  readonly #missingCosts = new MissingCosts();
  readonly #warned: Warned = new Map();
  /** When the node was first seen behind the checkpoint (monotonic clock). */
  #behindSince: number | null = null;
  /** The node that the last step read. What was read ahead is of that node. */
  #node: number | null = null;
  readonly #ahead: ReadAhead;
  readonly #agreement: Agreement;
  /** The block that most nodes contradicted last, and how often in a row. */
  #refused = { block: -1, times: 0 };
  readonly #store: BlockWriter;
  /** What the database says about this process's work; undefined: what an earlier process stored. */
  #storedReason: StoredReason | null | undefined;

  constructor(deps: IndexerDeps) {
    this.#lease = deps.lease === null ? null : new WorkLease("indexer", { ...deps, times: deps.lease });
    this.#deps = { ...deps, database: this.#lease?.fenced ?? deps.database };
    const contracts = () => this.#contracts();
    this.#ahead = new ReadAhead(deps.client, contracts, deps.receipts);
    const indexed = () => this.#indexed.read(this.#deps.database.read);
    const isProven = async () => (await deps.receipts?.isProving()) ?? false;
    this.#agreement = new Agreement({
      database: this.#deps.database,
      client: deps.client,
      contracts,
      indexed,
      isProven,
    });
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
      fieldsOf: (error) => (rowOf(error) === null ? {} : { condition: "row_parked" satisfies Condition }),
    });
  }

  get lastError(): string | null {
    return this.#loop.lastError ?? this.#agreement.problem;
  }

  async run(abort: AbortSignal): Promise<void> {
    const step = async () => ((await this.step()) ? "again" : "idle");
    await this.#loop.run(
      async (stop) =>
        this.#lease === null ? step() : ((await this.#lease.step(stop, () => this.#telling(step))) ?? this.#standBy()),
      abort,
    );
    // First, so that another process need not wait for what is still being read.
    await this.#lease?.release();
    await this.#ahead.idle();
  }

  /** Does a step, and stores what keeps the indexer from following the chain: requests wait for it. */
  async #telling<T>(step: () => Promise<T>): Promise<T> {
    try {
      const result = await step();
      await this.#tell(await this.#waitsForNodes());
      return result;
    } catch (error) {
      if (isOutage(error)) throw error;
      const reason = reasonOfChain(error);
      // The first error is reported. What keeps this from being stored is the same, or is met by the next step.
      await this.#tell(reason, error).catch((later: unknown) => {
        this.#deps.logger.debug({ err: later }, "what the indexer waits for could not be stored");
      });
      throw error;
    }
  }

  /** What is deep enough waits for the nodes, or a failure in it does: one node alone decides about no failure. */
  async #waitsForNodes(): Promise<StoredReason | null> {
    const { client, database, logger } = this.#deps;
    if (client.nodes.count === 1) return null;
    if (this.#agreement.problem !== null) return "nodes_disagree";
    const confirmed = Number((await readMeta(database.read, "confirmed_block")) ?? -1);
    if ((await firstUnsettled(database.read, confirmed)) === null) return null;
    if (this.#storedReason !== "nodes_disagree")
      logger.warn(
        { condition: "node_down" satisfies Condition, block: confirmed },
        "requests that failed on the chain wait for a second node: only one has their blocks",
      );
    return "nodes_disagree";
  }

  async #tell(reason: StoredReason | null, error?: unknown): Promise<void> {
    const row = rowOf(error);
    if (reason === this.#storedReason && row === null) return;
    const key = "indexer_waits_for";
    await this.#deps.database.write(async (trx) => {
      if (row !== null) await parkRows(trx, row.kind, [{ id: row.id, error }], this.#deps.now());
      if (reason !== null) return writeMeta(trx, key, reason);
      await unparkAll(trx, "block");
      await deleteMeta(trx, key);
    });
    this.#storedReason = reason;
  }

  /** Another process does the work. */
  #standBy(): "idle" {
    this.#storedReason = undefined;
    this.#ahead.forget();
    this.#agreement.standBy();
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
    const { client, confirmations } = this.#deps;
    const checkpoint = await this.#checkpoint();
    const { head, blocks } = await client.headAnd([checkpoint, checkpoint + 1]);
    const [at = null, next = null] = blocks;
    if (head < checkpoint) {
      // However long it takes: while another node has reached the checkpoint, this one is only behind.
      if (await client.nodes.isAnotherAt(checkpoint)) client.nodes.skip(new NodeBehind(head, checkpoint));
      if (this.#mayLag() && (await this.#isOnChain(head))) return false;
    }
    if (head < checkpoint || !(await this.#isStored(checkpoint, at))) {
      if (head >= checkpoint && !(await this.#agreement.isReorg(checkpoint))) return false;
      this.#ahead.forget();
      await this.#rollBack(checkpoint, head);
      return true;
    }
    this.#behindSince = null;
    const final = head - confirmations + 1;
    const { agreed, verdict, more } = await this.#agreement.ofStored(checkpoint, final);
    if (verdict.kind === "contradicted") return this.#undo(checkpoint, agreed, verdict);
    if (verdict.kind === "unknown") return this.#rollBackTo(agreed, checkpoint).then(() => true);
    if (head > checkpoint) return this.#readOn({ checkpoint, head, final, agreed, next, more });
    await this.#confirm(checkpoint, Math.min(final, agreed));
    await this.#afterBlocks({ head, read: checkpoint, agreed });
    return more;
  }

  /**
   * @param at.final the newest block that is deep enough. `agreed`: up to where the nodes agree. What may become final, `confirmed`
   *   below, is both. `next`: the block after the checkpoint. `more`: whether more stored blocks can be compared now.
   */
  async #readOn(at: {
    checkpoint: number;
    head: number;
    final: number;
    agreed: number;
    next: Block | null;
    more: boolean;
  }): Promise<boolean> {
    const { checkpoint, head, final, agreed, next, more } = at;
    const { database } = this.#deps;
    // The nodes have not yet agreed about stored blocks that are deep enough.
    const isBehind = agreed < Math.min(final, checkpoint);
    if (isBehind && checkpoint - agreed >= MOST_AHEAD) {
      await this.#confirm(checkpoint, agreed);
      return more;
    }
    // The data that undoes a block is kept until the block is final.
    const remember = (isBehind ? agreed + 1 : final) - 1 - REMEMBER;
    const indexed = await this.#indexed.read(database.read);
    const range = await this.#ahead.take({ from: checkpoint + 1, head, remember, first: next, indexed });
    const first = range.read.headers.get(range.from);
    const previous = await storedBlock(database.read, checkpoint);
    const follows = previous === undefined || first?.parentHash === previous.hash;
    // A reorg may have dropped what was read ahead.
    if (!follows || (next !== null && first !== undefined && first.hash !== next.hash)) {
      this.#ahead.forget();
      return true;
    }
    const verdict = isBehind || final <= checkpoint ? null : await this.#agreement.ofRead(range, final);
    if (verdict?.kind === "contradicted") return this.#refuse(verdict);
    // Far behind the head nothing is kept to undo blocks, so blocks without agreement are not stored.
    if (verdict?.kind !== "agreed" && range.from < range.remember)
      throw new ChainUnavailable(this.#agreement.reason ?? "the nodes have not agreed yet");
    const finalWhenRead = range.head - this.#deps.confirmations + 1;
    const confirmed = isBehind || verdict?.kind === "waits" ? agreed : finalWhenRead;
    this.#ahead.begin(range, { head, remember });
    const stored = await this.#stored(range, Math.max(0, confirmed));
    if (stored !== true) {
      this.#ahead.forget();
      return stored === false || this.#refuse(stored);
    }
    this.#agreement.stored(range);
    await this.#afterBlocks({ head: range.head, read: range.to, agreed: confirmed });
    return range.to < head;
  }

  /**
   * Logs that do not fit what the database has may be a lie of this node: the others are asked at once.
   * @returns true: stored; false: the blocks must be read again; a verdict: most nodes say that they are wrong.
   */
  async #stored(range: ReadBlocks, confirmed: number): Promise<boolean | Contradicted> {
    try {
      return await this.#store.store(range, confirmed, this.#agreement.failuresUpTo);
    } catch (error) {
      if (this.#deps.client.nodes.count === 1 || error instanceof ChainUnavailable) throw error;
      const verdict = await this.#agreement.ofRead(range, range.to);
      if (verdict.kind === "contradicted") return verdict;
      throw error;
    }
  }

  /** Most nodes say that stored blocks are wrong: they are undone, and read again from a node that agrees. */
  async #undo(checkpoint: number, agreed: number, verdict: Contradicted): Promise<boolean> {
    const { logger } = this.#deps;
    const { block, nodes } = verdict;
    const condition: Condition = "nodes_disagree";
    logger.warn(
      { condition, block, nodes, agreed, checkpoint },
      "most nodes say that stored blocks are wrong; rolling back to the last block about which they agreed",
    );
    await this.#rollBackTo(agreed, checkpoint);
    return this.#refuse(verdict);
  }

  /** @throws NodeDisagrees when the node that is read was outvoted: the next one does the step again. */
  #refuse({ block, nodes }: Contradicted): boolean {
    const { client } = this.#deps;
    this.#ahead.forget();
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

  /** Settles what is deep enough, also without a new block: the nodes may have agreed only now, or CONFIRMATIONS was lowered. */
  async #confirm(checkpoint: number, final: number): Promise<void> {
    const { database, signals, now } = this.#deps;
    const { failuresUpTo } = this.#agreement;
    const confirmed = Number((await readMeta(database.read, "confirmed_block")) ?? final);
    // A second node may have said the same of failures that have waited for it.
    const waited = Math.min(confirmed, failuresUpTo);
    if (confirmed >= final && (await firstUnsettled(database.read, waited)) === null) return;
    const upTo = Math.max(confirmed, final);
    const settled = await database.write((trx) => confirmUpTo(trx, checkpoint, { upTo, failuresUpTo }, now()));
    this.#deps.metrics.requests(finalChanges(settled, now()));
    signals.deliveries.notify();
  }

  /**
   * Closes batches only near the head: far behind it, logs that show a batch's outcome may still be unread, and the node may no
   * longer have the old state. Missing costs are recorded at any distance.
   */
  async #afterBlocks({ head, read, agreed }: { head: number; read: number; agreed: number }): Promise<void> {
    const final = head - this.#deps.confirmations + 1;
    if (final >= 0 && read >= final)
      await closeBatchesWithoutEffect({ ...this.#deps, warned: this.#warned }, Math.min(final, agreed));
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
        await this.#rollBackTo(common.number, checkpoint);
        return;
      }
      below = last.number;
    }
  }

  async #rollBackTo(fork: number, checkpoint: number): Promise<void> {
    const { database, metrics } = this.#deps;
    this.#agreement.rolledBack(fork);
    for (let last = checkpoint; last > fork;) {
      await this.#store.removeHidden();
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
}

/** The row that stops the indexer. It is named where `doctor` and `readyz` look for parked rows. Null: the error has another cause. */
function rowOf(error: unknown): { kind: ParkedKind; id: string } | null {
  if (error instanceof UnreadableRequest) return { kind: "request", id: error.id };
  return error instanceof BlockRefused ? { kind: "block", id: error.block.toString() } : null;
}
