import type { Logger } from "pino";

import type { Block, ChainClient } from "../chain/client.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import { ChainUnavailable, describeError } from "../chain/errors.ts";
import { readHoldings } from "../chain/foreign-contracts.ts";
import { RangeTooLarge } from "../chain/query-logs.ts";
import { readRelayOwner } from "../chain/relay-reads.ts";
import { crashPoint } from "../shared/crash-point.ts";
import type { LeaseTimes } from "../shared/lease.ts";
import type { Metrics } from "../shared/metrics.ts";
import type { Signals } from "../shared/signal.ts";
import { WorkLoop } from "../shared/work-loop.ts";
import { newestBlocks, storedBlock } from "../store/ledger/blocks.ts";
import type { Database } from "../store/db/database.ts";
import { lockLedger } from "../store/db/locks.ts";
import { readMeta, replaceMeta } from "../store/db/meta.ts";
import { WorkLease } from "../store/db/work-lease.ts";
import { rollback } from "../store/ledger/rollback.ts";
import { confirmUpTo } from "../store/requests/settle-confirmed.ts";
import { finalChanges } from "../store/requests/stored-request.ts";
import { WatchedCache } from "../store/ledger/watched.ts";
import { closeReverted } from "./close-reverted.ts";
import { MissingCosts } from "./costs.ts";
import { prepareRange } from "./prepare-range.ts";
import { readRange } from "./read-range.ts";
import { storeRange } from "./store-range.ts";
import { unknownOfLanes } from "./unknown-transactions.ts";

export interface IndexerDeps {
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
/** Milliseconds for the reads of foreign contracts that belong to one range. The others are read in the background. */
const FOREIGN_DEADLINE = 2_000;

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
  /** The checkpoint whose next range was read again because the followed contracts had changed. */
  #readAgain: number | null = null;

  constructor(deps: IndexerDeps) {
    this.#lease = deps.lease === null ? null : new WorkLease("indexer", { ...deps, times: deps.lease });
    this.#deps = { ...deps, database: this.#lease?.fenced ?? deps.database };
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
      async (stop) => (this.#lease === null ? step() : ((await this.#lease.step(stop, step)) ?? "idle")),
      abort,
    );
    await this.#lease?.release();
  }

  /** Stores the next range of blocks, or rolls back. @returns whether there may be more right away. */
  async step(): Promise<boolean> {
    try {
      return await this.#step();
    } catch (error) {
      // The provider's limit of blocks is known better now.
      if (error instanceof RangeTooLarge) return true;
      throw error;
    }
  }

  async #step(): Promise<boolean> {
    const { database, client, contracts, confirmations, signals } = this.#deps;
    const checkpoint = await this.#checkpoint();
    const { head, blocks } = await client.headAnd([checkpoint, checkpoint + 1]);
    const [at = null, next = null] = blocks;
    if (head < checkpoint && this.#mayLag() && (await this.#isOnChain(head))) return false;
    if (head < checkpoint || !(await this.#isStored(checkpoint, at))) {
      await this.#rollBack(checkpoint, head);
      return true;
    }
    this.#behindSince = null;
    if (head === checkpoint) {
      await this.#confirm(checkpoint, head - confirmations + 1);
      await this.#closeReverted(head, checkpoint);
      return false;
    }
    const [from, to] = [checkpoint + 1, Math.min(head, checkpoint + client.logLimits.blocks.value)];
    const remember = head - confirmations - REMEMBER;
    const watched = await this.#watched.read(database.read);
    const read = await readRange(client, contracts, watched, { from, to, head, remember, first: next });
    const previous = await storedBlock(database.read, checkpoint);
    if (previous !== undefined && read.headers.get(from)?.parentHash !== previous.hash) return true;
    const range = await prepareRange(
      // Far behind the head, the node may no longer have the state at `to`. Then the newest state that no reorg can change
      // is read instead.
      {
        ...this.#deps,
        receipts: (hashes) => client.receipts(hashes),
        transactions: (hashes) => client.transactions(hashes),
        ofLanes: (hashes) => unknownOfLanes({ database, client }, hashes),
        holdings: (queries) =>
          readHoldings(client, queries, {
            gas: this.#deps.foreignCallGas,
            block: Math.max(to, head - confirmations),
            abort: AbortSignal.timeout(FOREIGN_DEADLINE),
          }),
      },
      watched,
      read,
      { from, to, confirmed: Math.max(0, head - confirmations + 1), remember },
    );
    crashPoint("indexer:read");
    const facts = { relayOwner: range.needsRelayOwner ? await this.#relayOwner() : contracts.relay };
    // Once for each range: apps that begin and end to follow all the time must not hold it up.
    const again = this.#readAgain !== checkpoint;
    const stored = await storeRange(this.#deps, range, { read, watched, facts, again });
    if (stored === "changed") this.#readAgain = checkpoint;
    if (stored !== "stored") return true;
    crashPoint("indexer:stored");
    await this.#closeReverted(head, to);
    // Lanes wait for their batches to be mined, the dispatcher waits for events.
    signals.requests.notify();
    signals.deliveries.notify();
    if (range.foreignHoldings.some(({ quantity }) => quantity === null)) signals.contracts.notify();
    return to < head;
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
          "the node's chain shares no stored block with this database: check that RPC_URL is a node of the right chain",
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

  async #relayOwner(): Promise<string> {
    const { client, contracts } = this.#deps;
    const owner = await readRelayOwner(client, contracts.relay);
    if (owner === null) throw new ChainUnavailable(`the node has no relay contract at ${contracts.relay}`);
    return owner;
  }
}
