import type { Logger } from "pino";

import type { ChainClient } from "../chain/client.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import { ChainUnavailable, describeError } from "../chain/errors.ts";
import { readHoldings } from "../chain/foreign-contracts.ts";
import { readRelayOwner } from "../chain/relay-reads.ts";
import { crashPoint } from "../shared/crash-point.ts";
import { pause } from "../shared/pause.ts";
import type { Signals } from "../shared/signal.ts";
import { applyRange } from "../store/ledger/apply-range.ts";
import { newestBlocks, storedBlock } from "../store/ledger/blocks.ts";
import type { Database } from "../store/db/database.ts";
import { readMeta } from "../store/db/meta.ts";
import { rollback } from "../store/ledger/rollback.ts";
import { confirmUpTo } from "../store/requests/settle-confirmed.ts";
import { followsMore, watchedContracts } from "../store/ledger/watched.ts";
import { closeReverted } from "./close-reverted.ts";
import { prepareRange } from "./prepare-range.ts";
import { readRange } from "./read-range.ts";

export interface IndexerDeps {
  database: Database;
  client: ChainClient;
  contracts: ContractAddresses;
  signals: Signals;
  logger: Logger;
  /** Blocks that must lie on top, its own included, before a block counts as final. */
  confirmations: number;
  /** Milliseconds between two looks at the head. */
  pollInterval: number;
  now: () => number;
}

/** Blocks read at once: what common providers allow for logs. */
const RANGE = 500;
/** Headers kept beyond those that the confirmations need: how deep a reorg is noticed. */
const REMEMBER = 256;
const BACK_OFF = 2_000;
/** A node that is behind what is stored, on the same chain, is taken to lag for so many milliseconds; then it is believed. */
const BEHIND_GRACE = 30_000;

/** Follows the chain block by block and stores what it says: ownership, outcomes, history, checkpoint. */
export class Indexer {
  readonly #deps: IndexerDeps;
  /** Since when the node is behind what is stored, by the clock that never jumps. */
  #behindSince: number | null = null;
  #lastError: string | null = null;

  constructor(deps: IndexerDeps) {
    this.#deps = deps;
  }

  get lastError(): string | null {
    return this.#lastError;
  }

  async run(abort: AbortSignal): Promise<void> {
    const { signals, logger, pollInterval } = this.#deps;
    while (!abort.aborted) {
      try {
        const more = await this.step();
        if (this.#lastError !== null) logger.info("the indexer follows the chain again");
        this.#lastError = null;
        if (!more) await signals.blocks.wait(pollInterval, abort);
      } catch (error) {
        const words = describeError(error);
        if (this.#lastError !== words) logger.error({ err: error }, "the indexer cannot follow the chain");
        this.#lastError = words;
        await pause(BACK_OFF, abort);
      }
    }
  }

  /** Stores the next range. @returns whether there may be more right away. */
  async step(): Promise<boolean> {
    const { database, client, contracts, confirmations, signals, now } = this.#deps;
    const checkpoint = await this.#checkpoint();
    const head = await client.headNumber();
    if (head < checkpoint && this.#mayLag() && (await this.#isOnChain(head))) return false;
    if (head < checkpoint || !(await this.#isOnChain(checkpoint))) {
      await this.#rollBack(checkpoint, head);
      return true;
    }
    this.#behindSince = null;
    if (head === checkpoint) {
      await this.#confirm(checkpoint, head - confirmations + 1);
      await this.#closeReverted(head, checkpoint);
      return false;
    }
    const [from, to] = [checkpoint + 1, Math.min(head, checkpoint + RANGE)];
    const remember = head - confirmations - REMEMBER;
    const watched = await watchedContracts(database.read);
    const read = await readRange(
      client,
      contracts,
      { collections: [...watched.collections.keys()], foreign: [...watched.foreign.keys()] },
      { from, to, head, remember },
    );
    const previous = await storedBlock(database.read, checkpoint);
    if (previous !== undefined && read.headers.get(from)?.parentHash !== previous.hash) return true;
    const range = await prepareRange(
      // Far behind the head the node may have dropped the state; what is read must be too deep to be reorganised then.
      {
        ...this.#deps,
        receipts: (hashes) => client.receipts(hashes),
        holdings: (queries) => readHoldings(client, queries, Math.max(to, head - confirmations)),
      },
      watched,
      read,
      { from, to, confirmed: Math.max(0, head - confirmations + 1), remember },
    );
    crashPoint("indexer:read");
    const facts = { relayOwner: range.needsRelayOwner ? await this.#relayOwner() : contracts.relay };
    const stored = await database.write(async (trx) => {
      // What a contract logged in these blocks that an app named meanwhile was not asked for: they are read again.
      if (await followsMore(trx, watched, to)) return false;
      return applyRange(trx, range, facts, now());
    });
    if (!stored) return true;
    crashPoint("indexer:stored");
    await this.#closeReverted(head, to);
    // Lanes wait for their batches, the dispatcher for the outbox.
    signals.requests.notify();
    signals.deliveries.notify();
    return to < head;
  }

  /** A chain without new blocks makes final, too, what the settings call deep enough now. */
  async #confirm(checkpoint: number, final: number): Promise<void> {
    const { database, signals, now } = this.#deps;
    const confirmed = Number((await readMeta(database.read, "confirmed_block")) ?? final);
    if (confirmed >= final) return;
    await database.write((trx) => confirmUpTo(trx, checkpoint, final, now()));
    signals.deliveries.notify();
  }

  /** Far behind the head nothing is closed: the logs that may yet tell of a batch are not read, and old state may be gone. */
  async #closeReverted(head: number, read: number): Promise<void> {
    const final = head - this.#deps.confirmations + 1;
    if (final >= 0 && read >= final) await closeReverted(this.#deps, final);
  }

  async #checkpoint(): Promise<number> {
    const stored = await readMeta(this.#deps.database.read, "checkpoint");
    if (stored === null) throw new Error("the database has no checkpoint: the chain was never set up");
    return Number(stored);
  }

  #mayLag(): boolean {
    this.#behindSince ??= performance.now();
    return performance.now() - this.#behindSince < BEHIND_GRACE;
  }

  async #isOnChain(number: number): Promise<boolean> {
    const stored = await storedBlock(this.#deps.database.read, number);
    if (stored === undefined) return true;
    const [block] = await this.#deps.client.blocks([number]);
    if (block == null) throw new ChainUnavailable("the node does not have a block that it had");
    return block.hash === stored.hash;
  }

  /** Finds the last stored block that the chain still has, and takes back what came after it. */
  async #rollBack(checkpoint: number, head: number): Promise<void> {
    const { database, client, logger } = this.#deps;
    let below = Math.min(checkpoint, head) + 1;
    for (;;) {
      const stored = await newestBlocks(database.read, 50, below);
      const last = stored.at(-1);
      if (last === undefined) {
        throw new Error("the chain has no block in common with this database: is RPC_URL the right node?");
      }
      const blocks = await client.blocks(stored.map((block) => block.number));
      const common = stored.find((block, index) => blocks[index]?.hash === block.hash);
      if (common !== undefined) {
        logger.warn({ fork: common.number, checkpoint }, "the chain was reorganised: rolling back");
        await database.write((trx) => rollback(trx, common.number));
        return;
      }
      below = last.number;
    }
  }

  async #relayOwner(): Promise<string> {
    const { client, contracts } = this.#deps;
    const owner = await readRelayOwner(client, contracts.relay);
    if (owner === null) throw new ChainUnavailable("the relay does not answer");
    return owner;
  }
}
