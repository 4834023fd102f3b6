import type { Logger } from "pino";

import { MOST_STRANGER_MOVES } from "../config/limits.ts";
import { moveCountOf } from "../chain/codec/decode.ts";
import { type Condition, unknownTransaction } from "../domain/conditions.ts";
import { crashPoint } from "../shared/crash-point.ts";
import { secondsSince } from "../shared/metrics.ts";
import type { Database } from "../store/db/database.ts";
import { isOutage } from "../store/db/parked-rows.ts";
import { readMeta } from "../store/db/meta.ts";
import { engineOf, lockLedger } from "../store/db/sql.ts";
import { announceInclusions, applyRange, type SliceToStore, storeHistoryPart } from "../store/ledger/apply-range.ts";
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
import { foreignChangesSince } from "../store/ledger/indexed-contracts.ts";
import { MOST_DELETED } from "../store/ledger/rollback.ts";
import { isReadAgain, makeTokenEvents } from "../store/ledger/token-events.ts";
import { finalChanges, type DecidedRequest, UnreadableRequest } from "../store/requests/requests.ts";
import { type FinalBlocks, settleFinal } from "../store/requests/settle-final.ts";
import type { IndexerContext } from "./context.ts";
import type { ChainRange } from "./read-range.ts";
import { cut, type Slice, SliceSize } from "./slices.ts";

/**
 * How often the same blocks are read again because the followed contracts have changed. An app that begins to follow a new
 * contract changes them twice, and apps that change them all the time must not hold up the indexer.
 */
const MOST_READS_AGAIN = 3;

/** Moves of a block whose history is stored in the same commit as the rest. A block full of the service's own batches has fewer. */
const LARGEST_HISTORY = 2_000;

/** Which blocks are final, and `deep`: the newest one that is deep enough, also if the nodes have not agreed about it. */
type Final = FinalBlocks & { deep: number };

/** Stores what was read, slice by slice. Each slice is one commit, with its checkpoint. */
export class BlockWriter {
  readonly #context: IndexerContext;
  readonly #size: Pick<SliceSize, "value" | "took">;
  /** The database has refused blocks: each is stored alone, to name the one that it refuses. */
  #oneByOne = false;
  /** The blocks that were read again because the followed contracts had changed, and how often. */
  #readAgain: { from: number; to: number; times: number } | null = null;
  /** Whether balances in foreign contracts wait to be read in the background. */
  #unread = false;

  constructor(context: IndexerContext) {
    this.#context = context;
    this.#size = context.sliceSize ?? new SliceSize(engineOf(context.database.read));
  }

  /** Cuts off what the next commit stores, without the contracts that flood: nothing of them is decoded, and `store` quarantines them. */
  async cutNext(range: ChainRange): Promise<Slice> {
    const { database, maxForeignMoves: limit } = this.#context;
    const slice = cut(range, this.#oneByOne ? 1 : this.#size.value);
    const found = await floodingAmong(database.read, movesOf(slice), { block: slice.to, limit });
    const flooding = new Set([...slice.flooding, ...found]);
    return { ...without(slice, found), flooding, rest: slice.rest && without(slice.rest, flooding) };
  }

  /** Stores a slice, and settles what is final. @returns false: it is not stored, and must be read again. @throws BlockRefused */
  async store(slice: Slice, complete: SliceToStore, final: Final): Promise<boolean> {
    crashPoint("indexer:read");
    await removeHiddenHistory(this.#context.database);
    // Counted for all the blocks that were read together, not for each slice.
    const before = this.#readAgain;
    const times = before !== null && slice.from >= before.from && slice.from <= before.to ? before.times : 0;
    const toStore = await this.#storeLargeHistory(complete);
    if (toStore === null) return false;
    const started = performance.now();
    let stored: Stored;
    try {
      stored = await storeSlice(this.#context, slice, toStore, { final, again: times < MOST_READS_AGAIN });
    } catch (error) {
      if (isOutage(error) || error instanceof UnreadableRequest) throw error;
      if (this.#oneByOne) throw new BlockRefused(blockOf(toStore), error);
      this.#oneByOne = true;
      return false;
    }
    this.#oneByOne = false;
    if (stored === "changed") this.#readAgain = { from: slice.from, to: slice.rest?.to ?? slice.to, times: times + 1 };
    if (stored !== "stored") return false;
    if (toStore.historyFrom === undefined) this.#size.took(slice.size, performance.now() - started);
    crashPoint("indexer:stored");
    this.#notify(slice, complete, final);
    return true;
  }

  /**
   * Lanes wait for their batches to be mined, the dispatcher waits for events. Both look into the database, which takes as long as
   * storing a few hundred logs.
   */
  #notify({ rest, to }: Slice, { batches, cancelled, foreignHoldings }: SliceToStore, final: FinalBlocks): void {
    const { signals } = this.#context;
    if (rest === null || batches.length + cancelled.length > 0) {
      signals.requests.notify();
      signals.deliveries.notify();
    }
    this.#unread ||= foreignHoldings.some(({ quantity }) => quantity === null);
    // The contract reader leaves balances alone while the checkpoint is far behind.
    if (!this.#unread || to < final.confirmed) return;
    this.#unread = false;
    signals.contracts.notify();
  }

  /**
   * A block cannot be cut, because its outcomes and holdings become visible together. If its history alone would make one commit
   * too large, it is stored before the rest, in several commits.
   * @returns the slice, with the place of its history; null when another process has stored blocks or rolled them back.
   */
  async #storeLargeHistory(complete: SliceToStore): Promise<SliceToStore | null> {
    const { database, largestHistory = LARGEST_HISTORY } = this.#context;
    const { entries } = complete;
    if (entries.length <= Math.max(this.#size.value, largestHistory)) return complete;
    let first: number | null = null;
    for (let from = 0; from < entries.length;) {
      const part = entries.slice(from, from + this.#size.value);
      const started = performance.now();
      first = await database.write(async (trx) => {
        await lockLedger(trx);
        return storeHistoryPart(trx, complete, part, first);
      });
      if (first === null) return null;
      this.#size.took(part.length, performance.now() - started);
      crashPoint("indexer:part");
      from += part.length;
    }
    return first === null ? complete : { ...complete, historyFrom: first };
  }
}

/**
 * What became of a slice. `changed`: nothing is stored, because apps began to follow contracts since it was read. `outdated`:
 * nothing is stored, because another process has stored or rolled back blocks.
 */
type Stored = "stored" | "changed" | "outdated";

/**
 * Stores a slice in one transaction: first outcomes, holdings, history and the checkpoint (`applyRange`), then what is final with it
 * (`settleFinal`), the events of what is not final yet (`announceInclusions`) and of tokens (`makeTokenEvents`), then which foreign
 * contracts are followed, and how.
 * @param again whether the blocks may be read again because apps began to follow contracts meanwhile. Otherwise they
 *   follow them from the next block on, and their wallets are read from the chain in the background.
 */
async function storeSlice(
  context: IndexerContext,
  slice: Slice,
  complete: SliceToStore,
  { final, again }: { final: Final; again: boolean },
): Promise<Stored> {
  const { database, logger, metrics, now } = context;
  const { indexed, flooding } = slice;
  let quarantined: Quarantined[] = [];
  let settled: DecidedRequest[] = [];
  const started = performance.now();
  const outcome = await database.write(async (trx) => {
    await lockLedger(trx);
    const changes = await foreignChangesSince(trx, indexed);
    // What adopted contracts need is never left out: how often they change is limited by adoptions and quarantines.
    if (changes !== null && (again || changes.ofAdopted)) return "changed";
    const time = now();
    if (!(await applyRange(trx, complete, time))) return "outdated";
    // Otherwise no outcome is new, and no block has become final since the last commit.
    const hasOutcomes = complete.batches.length + complete.cancelled.length > 0;
    if (hasOutcomes || (await readMeta(trx, "confirmed_block")) !== final.confirmed.toString())
      settled = await settleFinal(trx, final, time);
    await announceInclusions(trx, complete, time);
    // Far behind the head, blocks come first: they decide what callers see. Their events are made when the last one is stored.
    if (complete.to >= final.deep || (await isReadAgain(trx)))
      await makeTokenEvents(trx, eventLimits(context, final.deep), time);
    const added = changes?.added ?? [];
    await followAfter(trx, added, { since: complete.from - 1 });
    await readAllAgain(trx, added);
    await countMoves(trx, movesOf(slice), complete.to);
    const floods = await quarantine(trx, [...flooding], "flood", { asOf: complete.from - 1, now: now() });
    quarantined = [...floods, ...(await recordReads(trx, complete.reads, now()))];
    return "stored";
  });
  if (outcome !== "stored") return outcome;
  reportQuarantines(logger, quarantined);
  metrics.requests(finalChanges(settled, now(), secondsSince(started)));
  for (const { cost } of complete.batches) if (cost !== undefined) metrics.batchGas(cost.gas);
  const { unknownTransaction: unknown } = complete;
  if (unknown !== null) logger.error(unknown, unknownTransaction(unknown.hash));
  return outcome;
}

function eventLimits({ strangerMoves = MOST_STRANGER_MOVES }: IndexerContext, deep: number) {
  return { deep, mostStrangers: strangerMoves };
}

/** Makes events of movements in final blocks, so many as one commit may. @returns whether there are more. */
export function makeMoreTokenEvents(context: IndexerContext, deep: number): Promise<boolean> {
  const { database, now } = context;
  return database.write(async (trx) => {
    await lockLedger(trx);
    return makeTokenEvents(trx, eventLimits(context, deep), now());
  });
}

/** Removes what is hidden of the history: its block was not stored, or was rolled back. */
export async function removeHiddenHistory(database: Database): Promise<void> {
  while ((await hiddenFrom(database.read)) !== null) {
    await database.write(async (trx) => {
      await lockLedger(trx);
      await removeHidden(trx, MOST_DELETED);
    });
  }
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

/** The block of a slice in which something happened. The slice has only one. */
function blockOf({ batches, entries, edits, to }: SliceToStore): number {
  return batches[0]?.blockNumber ?? entries[0]?.move.blockNumber ?? edits[0]?.blockNumber ?? to;
}

/** Moves by foreign contract, as they count against its limit: in the relay's own transactions, those of adopted ones beyond one a call. */
function movesOf({ foreign, relay, indexed }: Slice): Map<string, number> {
  const calls = new Map(
    relay.flatMap((event) =>
      event.kind === "batch-executed" ? [[event.transactionHash, event.executed] as const] : [],
    ),
  );
  const counts = new Map<string, number>();
  for (const log of foreign) {
    const { address, transactionHash } = log;
    const moves = moveCountOf(log);
    const own = indexed.foreign.get(address)?.adopter == null ? 0 : Math.min(moves, calls.get(transactionHash) ?? 0);
    if (own > 0) calls.set(transactionHash, (calls.get(transactionHash) ?? 0) - own);
    if (moves > own) counts.set(address, (counts.get(address) ?? 0) + moves - own);
  }
  return counts;
}

function without<Range extends ChainRange>(range: Range, flooding: ReadonlySet<string>): Range {
  if (flooding.size === 0) return range;
  return { ...range, foreign: range.foreign.filter(({ address }) => !flooding.has(address)) };
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
