import type { Logger } from "pino";

import type { ChainClient } from "../chain/client.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import { findCauses } from "../chain/failed-calls.ts";
import { answersInTime } from "../shared/answers-in-time.ts";
import { moveCountOf } from "../chain/codec/decode.ts";
import { ChainUnavailable } from "../chain/errors.ts";
import { type HoldingQuery, readHoldings } from "../chain/foreign.ts";
import type { RawLog } from "../chain/query-logs.ts";
import { readRelayOwner } from "../chain/reads.ts";
import { type Condition, unknownTransaction } from "../domain/conditions.ts";
import { crashPoint } from "../shared/crash-point.ts";
import { type Metrics, secondsSince } from "../shared/metrics.ts";
import type { Signals } from "../shared/signal.ts";
import type { Database } from "../store/db/database.ts";
import { isOutage } from "../store/db/parked-rows.ts";
import { engineOf, lockLedger } from "../store/db/sql.ts";
import { applyRange, type CreationFacts, storeHistoryPart } from "../store/ledger/apply-range.ts";
import {
  countMoves,
  floodingAmong,
  quarantine,
  type Quarantined,
  readAllAgain,
  recordReads,
} from "../store/ledger/contract-states.ts";
import { followAfter } from "../store/ledger/follow.ts";
import { hiddenFrom, removeHidden } from "../store/ledger/hidden-history.ts";
import { MOST_DELETED } from "../store/ledger/rollback.ts";
import { followsSince, type IndexedContracts } from "../store/ledger/indexed-contracts.ts";
import { finalChanges, type DecidedRequest, UnreadableRequest } from "../store/requests/requests.ts";
import { agreedReceipts } from "./costs.ts";
import { type PreparedRange, prepareRange, unknownOfLanes } from "./prepare-range.ts";
import type { ReadBlocks } from "./read-ahead.ts";
import type { ChainRange } from "./read-range.ts";
import { cut, type Slice, SliceSize } from "./slices.ts";

/**
 * How often the same blocks are read again because the followed contracts have changed. An app that begins to follow a new
 * contract changes them twice, and apps that change them all the time must not hold up the indexer.
 */
const MOST_READS_AGAIN = 3;
/** Milliseconds for the reads of foreign contracts that belong to the newest blocks. The others are read in the background. */
const FOREIGN_DEADLINE = 2_000;

/** Moves of a block whose history is stored in the same commit as the rest. A block full of the service's own batches has fewer. */
const LARGEST_HISTORY = 2_000;

export interface BlockWriterDeps extends StoreDeps {
  client: ChainClient;
  contracts: ContractAddresses;
  signals: Signals;
  /** Gas limit of one call of a foreign contract. */
  foreignCallGas: number;
  /** How many moves and other events one commit stores. By default it adapts to how long commits take. */
  sliceSize?: Pick<SliceSize, "value" | "took">;
  /** Moves of a block whose history is stored in the same commit as the rest. */
  largestHistory?: number;
}

/** Joins what was read with the database and stores it, slice by slice. Each slice is one commit, with its checkpoint. */
export class BlockWriter {
  readonly #deps: BlockWriterDeps;
  readonly #size: Pick<SliceSize, "value" | "took">;
  /** The database has refused blocks: each is stored alone, to name the one that it refuses. */
  #oneByOne = false;
  /** The blocks that were read again because the followed contracts had changed, and how often. */
  #readAgain: { from: number; to: number; times: number } | null = null;

  constructor(deps: BlockWriterDeps) {
    this.#deps = deps;
    this.#size = deps.sliceSize ?? new SliceSize(engineOf(deps.database.read));
  }

  /**
   * @param confirmed the newest final block. @param failuresUpTo failures in later blocks wait for a second node. Default: none waits.
   * @returns false when the blocks that are not stored yet must be read again.
   */
  async store(blocks: ReadBlocks, confirmed: number, failuresUpTo = Infinity): Promise<boolean> {
    const { signals, contracts } = this.#deps;
    let { indexed } = blocks;
    let unread = false;
    await this.removeHidden();
    let rest: Omit<Slice, "moves"> | null = { from: blocks.from, to: blocks.to, read: blocks.read };
    while (rest !== null) {
      const [whole, left] = cut(rest, this.#oneByOne ? 1 : this.#size.value);
      const slice = await this.#withoutFlooding(whole);
      rest = left === null ? null : { ...left, read: without(left.read, slice.read.flooding) };
      const range = await this.#prepare(slice, { ...blocks, indexed }, { confirmed, failuresUpTo });
      crashPoint("indexer:read");
      const facts = {
        relayOwner: range.needsRelayOwner ? await this.#relayOwner() : contracts.relay,
        kinds: new Map(slice.read.created.map(({ collection, factory }) => [collection, factory])),
      };
      // Counted for all the blocks together, not for each slice.
      const times = this.#readsAgain(slice.from);
      const again = times < MOST_READS_AGAIN;
      if (!(await this.#storeLargeHistory(range))) return false;
      const started = performance.now();
      const stored = await this.#commit(range, { read: slice.read, indexed, facts, again });
      if (stored === "changed") this.#readAgain = { from: slice.from, to: blocks.to, times: times + 1 };
      if (stored !== "stored") return false;
      // A later slice may have logs of a collection that this one has created.
      indexed = { ...indexed, collections: range.collections };
      if (range.historyFrom === undefined) this.#size.took(slice.moves, performance.now() - started);
      crashPoint("indexer:stored");
      // Lanes wait for their batches to be mined, the dispatcher waits for events. Both look into the database, which takes
      // as long as storing a few hundred logs.
      if (rest === null || range.batches.length + range.cancelled.length > 0) {
        signals.requests.notify();
        signals.deliveries.notify();
      }
      unread ||= range.foreignHoldings.some(({ quantity }) => quantity === null);
      // The contract reader leaves balances alone while the checkpoint is far behind.
      if (unread && range.to >= range.confirmed) signals.contracts.notify();
    }
    return true;
  }

  /** @throws BlockRefused */
  async #commit(range: PreparedRange, from: From): Promise<"stored" | "changed" | "refused"> {
    try {
      const stored = await commitRange(this.#deps, range, from);
      this.#oneByOne = false;
      return stored;
    } catch (error) {
      if (isOutage(error) || error instanceof UnreadableRequest) throw error;
      if (this.#oneByOne) throw new BlockRefused(blockOf(range), error);
      this.#oneByOne = true;
      return "refused";
    }
  }

  /** Removes what is hidden of the history: its block was not stored, or was rolled back. */
  async removeHidden(): Promise<void> {
    const { database } = this.#deps;
    while ((await hiddenFrom(database.read)) !== null) {
      await database.write(async (trx) => {
        await lockLedger(trx);
        await removeHidden(trx, MOST_DELETED);
      });
    }
  }

  /** The slice without the contracts that flood: nothing of them is decoded or stored, and its commit quarantines them. */
  async #withoutFlooding({ read, ...slice }: Slice): Promise<Slice> {
    const { database, maxForeignMoves: limit } = this.#deps;
    const found = await floodingAmong(database.read, movesOf(read.foreign), { block: slice.to, limit });
    return { ...slice, read: { ...without(read, found), flooding: new Set([...read.flooding, ...found]) } };
  }

  /**
   * A block cannot be cut, because its outcomes and holdings become visible together. If its history alone would make one commit
   * too large, it is stored before the rest, in several commits.
   * @returns false when another process has stored blocks or rolled them back.
   */
  async #storeLargeHistory(range: PreparedRange): Promise<boolean> {
    const { database, largestHistory = LARGEST_HISTORY } = this.#deps;
    const { moves } = range;
    if (moves.length <= Math.max(this.#size.value, largestHistory)) return true;
    let first: number | null = null;
    for (let from = 0; from < moves.length;) {
      const part = moves.slice(from, from + this.#size.value);
      const started = performance.now();
      first = await database.write(async (trx) => {
        await lockLedger(trx);
        return storeHistoryPart(trx, range, part, first);
      });
      if (first === null) return false;
      range.historyFrom = first;
      this.#size.took(part.length, performance.now() - started);
      crashPoint("indexer:part");
      from += part.length;
    }
    return true;
  }

  #readsAgain(block: number): number {
    if (this.#readAgain === null || block < this.#readAgain.from || block > this.#readAgain.to) return 0;
    return this.#readAgain.times;
  }

  #prepare(
    { from, to, read }: Slice,
    { head, remember, indexed }: ReadBlocks,
    final: { confirmed: number; failuresUpTo: number },
  ): Promise<PreparedRange> {
    const { database, client, contracts, foreignCallGas } = this.#deps;
    const readAt = (queries: HoldingQuery[], block: number | string, abort: AbortSignal) =>
      readHoldings(client, queries, { gas: foreignCallGas, block, abort });
    let together: AbortSignal | null = null;
    let deadline: number | null = null;
    return prepareRange(
      {
        ...this.#deps,
        nodes: client.nodes,
        receipts: (hashes) => agreedReceipts(client, hashes),
        transactions: (hashes) => client.transactions(hashes),
        ofLanes: (hashes) => unknownOfLanes({ database, client, contracts }, hashes),
        // Below the head, later blocks may change the same balances again, and the node may no longer have the state.
        holdings: to === head ? (queries) => readAt(queries, to, AbortSignal.timeout(FOREIGN_DEADLINE)) : null,
        // All of them together have one deadline.
        holdingsAt: (queries, hash) => readAt(queries, hash, (together ??= AbortSignal.timeout(FOREIGN_DEADLINE))),
        causesAt: (calls, block) => {
          deadline ??= performance.now() + FOREIGN_DEADLINE;
          const left = Math.max(0, Math.round(deadline - performance.now()));
          return answersInTime(calls, left, (part, abort) => findCauses(client, contracts, part, { block, abort }));
        },
      },
      indexed,
      read,
      { from, to, ...final, remember },
    );
  }

  async #relayOwner(): Promise<string> {
    const { client, contracts } = this.#deps;
    const owner = await readRelayOwner(client, contracts.relay);
    if (owner === null) throw new ChainUnavailable(`the node has no relay contract at ${contracts.relay}`);
    return owner;
  }
}

interface StoreDeps {
  database: Database;
  logger: Logger;
  now: () => number;
  /** Most moves of a foreign contract in 500 blocks. */
  maxForeignMoves: number;
  metrics: Pick<Metrics, "requests" | "batchGas">;
}

/** What a range was read with. */
interface From {
  read: ChainRange;
  indexed: IndexedContracts;
  facts: CreationFacts;
  again: boolean;
}

/** The database refuses a block. Nothing of it is stored, and nothing is guessed: the indexer stops there. */
export class BlockRefused extends Error {
  override readonly name = "BlockRefused";
  readonly block: number;

  constructor(block: number, cause: unknown) {
    const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    super(`block ${block.toString()} cannot be stored (${reason}): the indexer goes on once the database accepts it`, {
      cause,
    });
    this.block = block;
  }
}

/**
 * Stores a range in one transaction.
 * @param from `again`: whether the range may be read again because apps began to follow contracts meanwhile. Otherwise they
 *   follow them from the next block on, and their wallets are read from the chain in the background.
 * @returns `changed`: nothing was stored for that reason. `refused`: another process has stored or rolled back blocks.
 */
async function commitRange(
  deps: StoreDeps,
  range: PreparedRange,
  from: From,
): Promise<"stored" | "changed" | "refused"> {
  const { database, now } = deps;
  let quarantined: Quarantined[] = [];
  let settled: DecidedRequest[] = [];
  const started = performance.now();
  const outcome = await database.write(async (trx) => {
    await lockLedger(trx);
    const added = await followsSince(trx, from.indexed);
    if (added !== null && from.again) return "changed";
    const applied = await applyRange(trx, range, from.facts, now());
    if (applied === null) return "refused";
    settled = applied;
    await followAfter(trx, added ?? [], { since: range.from - 1 });
    await readAllAgain(trx, added ?? []);
    await countMoves(trx, movesOf(from.read.foreign), range.to);
    const flooding = await quarantine(trx, [...from.read.flooding], "flood", { asOf: range.to, now: now() });
    quarantined = [...flooding, ...(await recordReads(trx, range.reads, now()))];
    return "stored";
  });
  if (outcome === "stored") {
    reportQuarantines(deps.logger, quarantined);
    deps.metrics.requests(finalChanges(settled, now(), secondsSince(started)));
    for (const { cost } of range.batches) if (cost !== undefined) deps.metrics.batchGas(cost.gas);
    const { unknownTransaction: unknown } = range;
    if (unknown !== null) deps.logger.error(unknown, unknownTransaction(unknown.hash));
  }
  return outcome;
}

/** The block of a range in which something happened. The range has only one. */
function blockOf({ batches, moves, changes, to }: PreparedRange): number {
  return batches[0]?.blockNumber ?? moves[0]?.move.blockNumber ?? changes[0]?.blockNumber ?? to;
}

/** Moves by foreign contract. */
function movesOf(logs: readonly RawLog[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const log of logs) counts.set(log.address, (counts.get(log.address) ?? 0) + moveCountOf(log));
  return counts;
}

function without(read: ChainRange, flooding: ReadonlySet<string>): ChainRange {
  if (flooding.size === 0) return read;
  return { ...read, foreign: read.foreign.filter(({ address }) => !flooding.has(address)) };
}

export function reportQuarantines(logger: Logger, quarantined: readonly Quarantined[]): void {
  for (const { address: contract, reason, until } of quarantined) {
    logger.warn(
      { condition: "contract_quarantined" satisfies Condition, contract, reason, until: new Date(until).toISOString() },
      reason === "flood"
        ? "a followed contract reports too many moves of tokens: it is quarantined, and its wallets are read again afterwards"
        : "calls of a followed contract keep exceeding their limits: it is quarantined, and tried again afterwards",
    );
  }
}
