import type { Logger } from "pino";

import type { ChainClient } from "../chain/client.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import { ChainUnavailable } from "../chain/errors.ts";
import { type HoldingQuery, readHoldings } from "../chain/foreign.ts";
import { readRelayOwner } from "../chain/reads.ts";
import { type Condition, type ParkedKind, unknownTransaction } from "../domain/conditions.ts";
import { crashPoint } from "../shared/crash-point.ts";
import { isolate, logParked } from "../shared/isolate.ts";
import { type Metrics, secondsSince } from "../shared/metrics.ts";
import type { Signals } from "../shared/signal.ts";
import type { Database } from "../store/db/database.ts";
import { type FailedRow, isOutage, type ParkedRow, parkRows } from "../store/db/parked-rows.ts";
import { type Engine, engineOf, lockLedger } from "../store/db/sql.ts";
import { applyRange, type CreationFacts, type Without } from "../store/ledger/apply-range.ts";
import { countLogs, type Quarantined, readAllAgain, recordReads } from "../store/ledger/contract-states.ts";
import { followAfter } from "../store/ledger/follow.ts";
import { followsSince, type WatchedContracts } from "../store/ledger/watched.ts";
import { idsToSettle } from "../store/requests/settle-confirmed.ts";
import { finalChanges, type DecidedRequest } from "../store/requests/requests.ts";
import { agreedReceipts } from "./costs.ts";
import { type PreparedRange, prepareRange, unknownOfLanes } from "./prepare-range.ts";
import type { ReadBlocks } from "./read-ahead.ts";
import type { ChainRange } from "./read-range.ts";

/**
 * How often the same blocks are read again because the followed contracts have changed. An app that begins to follow a new
 * contract changes them twice, and apps that change them all the time must not hold up the indexer.
 */
const MOST_READS_AGAIN = 3;
/** Milliseconds for the reads of foreign contracts that belong to the newest blocks. The others are read in the background. */
const FOREIGN_DEADLINE = 2_000;

export interface BlockWriterDeps extends StoreDeps {
  client: ChainClient;
  contracts: ContractAddresses;
  signals: Signals;
  /** Gas limit of one call of a foreign contract. */
  foreignCallGas: number;
  /** How many logs one commit stores. By default it adapts to how long commits take. */
  sliceSize?: Pick<SliceSize, "value" | "took">;
}

/** Joins what was read with the database and stores it, slice by slice. Each slice is one commit, with its checkpoint. */
export class BlockWriter {
  readonly #deps: BlockWriterDeps;
  readonly #size: Pick<SliceSize, "value" | "took">;
  /** The blocks that were read again because the followed contracts had changed, and how often. */
  #readAgain: { from: number; to: number; times: number } | null = null;

  constructor(deps: BlockWriterDeps) {
    this.#deps = deps;
    this.#size = deps.sliceSize ?? new SliceSize(engineOf(deps.database.read));
  }

  /**
   * @param confirmed the newest final block.
   * @returns false when the blocks that are not stored yet must be read again.
   */
  async store(blocks: ReadBlocks, confirmed: number): Promise<boolean> {
    const { signals, contracts } = this.#deps;
    let { watched } = blocks;
    let unread = false;
    let rest: Omit<Slice, "logs"> | null = { from: blocks.from, to: blocks.to, read: blocks.read };
    while (rest !== null) {
      const [slice, left] = cut(rest, this.#size.value);
      rest = left;
      const range = await this.#prepare(slice, { ...blocks, watched }, confirmed);
      crashPoint("indexer:read");
      const facts = {
        relayOwner: range.needsRelayOwner ? await this.#relayOwner() : contracts.relay,
        kinds: new Map(slice.read.created.map(({ collection, factory }) => [collection, factory])),
      };
      // Counted for all the blocks together, not for each slice.
      const times = this.#readsAgain(slice.from);
      const again = times < MOST_READS_AGAIN;
      const started = performance.now();
      const stored = await commitWithoutPoisoned(this.#deps, range, { read: slice.read, watched, facts, again });
      if (stored === "changed") this.#readAgain = { from: slice.from, to: blocks.to, times: times + 1 };
      if (stored !== "stored") return false;
      // A later slice may have logs of a collection that this one has created.
      watched = { ...watched, collections: range.collections };
      this.#size.took(slice.logs, performance.now() - started);
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

  #readsAgain(block: number): number {
    if (this.#readAgain === null || block < this.#readAgain.from || block > this.#readAgain.to) return 0;
    return this.#readAgain.times;
  }

  #prepare(
    { from, to, read }: Slice,
    { head, remember, watched }: ReadBlocks,
    confirmed: number,
  ): Promise<PreparedRange> {
    const { database, client, foreignCallGas } = this.#deps;
    const readAt = (queries: HoldingQuery[], block: number | string, abort: AbortSignal) =>
      readHoldings(client, queries, { gas: foreignCallGas, block, abort });
    let together: AbortSignal | null = null;
    return prepareRange(
      {
        ...this.#deps,
        receipts: (hashes) => agreedReceipts(client, hashes),
        transactions: (hashes) => client.transactions(hashes),
        ofLanes: (hashes) => unknownOfLanes({ database, client }, hashes),
        // Below the head, later blocks may change the same balances again, and the node may no longer have the state.
        holdings: to === head ? (queries) => readAt(queries, to, AbortSignal.timeout(FOREIGN_DEADLINE)) : null,
        // All of them together have one deadline.
        holdingsAt: (queries, hash) => readAt(queries, hash, (together ??= AbortSignal.timeout(FOREIGN_DEADLINE))),
      },
      watched,
      read,
      { from, to, confirmed, remember },
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
  /** Most transfer logs of a foreign contract in 500 blocks. */
  maxForeignLogs: number;
  metrics: Pick<Metrics, "requests" | "batchGas">;
}

/** What a range was read with. */
interface From {
  read: ChainRange;
  watched: WatchedContracts;
  facts: CreationFacts;
  again: boolean;
}

/** A request whose metadata, or whose settling, may make a commit fail. `error` is undefined until that is known. */
interface Suspect extends FailedRow {
  part: keyof Without;
}

/** Rolls a trial back. */
class Trial extends Error {
  override readonly name = "Trial";
}

/**
 * Stores a range in one transaction. If a request's metadata cannot be stored, or a request cannot be settled, the range is
 * stored without that, and the request is parked: `reconcile` adds the metadata, and a later commit settles the request.
 * @param from `again`: whether the range may be read again because apps began to follow contracts meanwhile. Otherwise they
 *   follow them from the next block on, and their wallets are read from the chain in the background.
 * @returns `changed`: nothing was stored for that reason. `refused`: another process has stored or rolled back blocks.
 */
async function commitWithoutPoisoned(
  deps: StoreDeps,
  range: PreparedRange,
  from: From,
): Promise<"stored" | "changed" | "refused"> {
  try {
    return await commitRange(deps, range, from, []);
  } catch (error) {
    if (isOutage(error)) throw error;
    const poisoned = await findPoisoned(deps, range, from);
    // The cause is something that cannot be left out.
    if (poisoned.length === 0) throw error;
    return commitRange(deps, range, from, poisoned);
  }
}

/** @returns the requests to leave out, with their errors; none if the range cannot be stored even without all suspects. */
async function findPoisoned(deps: StoreDeps, range: PreparedRange, from: From): Promise<Suspect[]> {
  const unreadable = new Set(range.unreadable.map(({ id }) => id));
  const minted = range.moves
    .flatMap(({ mintedBy }) => (mintedBy === null ? [] : [mintedBy.id]))
    .filter((id) => !unreadable.has(id));
  const ended = range.batches.flatMap(({ outcomes }) => outcomes.map(({ request }) => request.id));
  const cancelled = range.cancelled.map(({ request }) => request.id);
  const settling = [...(await idsToSettle(deps.database.read, range.confirmed)), ...ended, ...cancelled];
  const suspects: Suspect[] = [
    ...[...new Set(minted)].map((id) => ({ id, part: "metadata" as const, error: undefined })),
    ...[...new Set(settling)].map((id) => ({ id, part: "settling" as const, error: undefined })),
  ];
  /** Whether the range can be stored with these suspects only. */
  const tryWith = async (kept: readonly Suspect[]) => {
    const keeps = new Set(kept);
    const leftOut = suspects.filter((suspect) => !keeps.has(suspect));
    await commitRange(deps, range, from, leftOut, true).catch((error: unknown) => {
      if (!(error instanceof Trial)) throw error;
    });
  };
  try {
    await tryWith([]);
  } catch (error) {
    if (isOutage(error)) throw error;
    return [];
  }
  return (await isolate(suspects, tryWith, isOutage)).map(({ row, error }) => ({ ...row, error }));
}

/**
 * @param leftOut what the range is stored without.
 * @param trial rolls back at the end. @throws Trial when a trial would have succeeded
 */
async function commitRange(
  deps: StoreDeps,
  range: PreparedRange,
  from: From,
  leftOut: readonly Suspect[],
  trial = false,
): Promise<"stored" | "changed" | "refused"> {
  const { database, now } = deps;
  let quarantined: Quarantined[] = [];
  let settled: DecidedRequest[] = [];
  let parked: { kind: ParkedKind; rows: ParkedRow[] }[] = [];
  const started = performance.now();
  const rowsOf = (part: keyof Without) => leftOut.filter((suspect) => suspect.part === part);
  const idsOf = (part: keyof Without) => new Set(rowsOf(part).map(({ id }) => id));
  const without = { metadata: idsOf("metadata"), settling: idsOf("settling") };
  const outcome = await database.write(async (trx) => {
    await lockLedger(trx);
    const added = await followsSince(trx, from.watched);
    if (added !== null && from.again) return "changed";
    const applied = await applyRange(trx, range, from.facts, now(), without);
    if (applied === null) return "refused";
    settled = applied;
    await followAfter(trx, added ?? [], { since: range.from - 1 });
    await readAllAgain(trx, added ?? []);
    const counting = { block: range.to, limit: deps.maxForeignLogs, now: now() };
    const flooding = await countLogs(trx, countsOf(from.read, deps.maxForeignLogs), counting);
    quarantined = [...flooding, ...(await recordReads(trx, range.reads, now()))];
    if (trial) throw new Trial();
    parked = [
      {
        kind: "metadata",
        rows: await parkRows(trx, "metadata", [...unreadableMints(range), ...rowsOf("metadata")], now()),
      },
      { kind: "request", rows: await parkRows(trx, "request", rowsOf("settling"), now()) },
    ];
    return "stored";
  });
  if (outcome === "stored") {
    reportQuarantines(deps.logger, quarantined);
    for (const { kind, rows } of parked) logParked(deps.logger, kind, rows);
    deps.metrics.requests(finalChanges(settled, now(), secondsSince(started)));
    for (const { cost } of range.batches) if (cost !== undefined) deps.metrics.batchGas(cost.gas);
    const { unknownTransaction: hash } = range;
    if (hash !== null) deps.logger.error({ hash }, unknownTransaction(hash));
  }
  return outcome;
}

/** Mints whose stored commands cannot be read: their tokens are stored without metadata already. */
function unreadableMints({ unreadable, moves }: PreparedRange): FailedRow[] {
  const minted = new Set(moves.map(({ mintedBy }) => mintedBy?.id));
  return unreadable.filter(({ id }) => minted.has(id));
}

/** Transfer logs by foreign contract. A contract whose logs were too many to read is above the limit. */
function countsOf({ foreign, flooding }: ChainRange, limit: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { address } of foreign) counts.set(address, (counts.get(address) ?? 0) + 1);
  for (const address of flooding) counts.set(address, limit + 1);
  return counts;
}

export function reportQuarantines(logger: Logger, quarantined: readonly Quarantined[]): void {
  for (const { address: contract, reason, until } of quarantined) {
    logger.warn(
      { condition: "contract_quarantined" satisfies Condition, contract, reason, until: new Date(until).toISOString() },
      reason === "flood"
        ? "a followed contract emits too many transfer logs: it is quarantined, and its wallets are read again afterwards"
        : "calls of a followed contract keep exceeding their limits: it is quarantined, and tried again afterwards",
    );
  }
}

/**
 * Milliseconds that the commit of one slice should take. Meanwhile no other write gets its turn on SQLite. On PostgreSQL
 * only mints in the same collections wait, and each commit costs more.
 */
const TARGET = { sqlite: 30, postgres: 80 } as const;
/** Logs of a slice: at first, and the bounds. */
const FIRST = 500;
const FEWEST = 250;
const MOST = 5_000;

/**
 * How many logs are stored in one commit. It adapts to how long commits take: calls of the API, which write too, must not
 * wait long while the indexer catches up. Not an `AdaptiveSize`: no commit fails, and its time tells which size is right.
 */
export class SliceSize {
  readonly #target: number;
  #value = FIRST;

  constructor(engine: Engine) {
    this.#target = TARGET[engine];
  }

  get value(): number {
    return this.#value;
  }

  /** @param milliseconds that the commit of so many logs took. */
  took(logs: number, milliseconds: number): void {
    // A commit of few logs says little about one of many.
    if (logs < this.#value / 2) return;
    const factor = Math.min(2, Math.max(0.5, this.#target / milliseconds));
    this.#value = Math.round(Math.min(MOST, Math.max(FEWEST, this.#value * factor)));
  }
}

/** Consecutive blocks that were read: what one commit stores. */
export interface Slice {
  from: number;
  to: number;
  logs: number;
  read: ChainRange;
}

type Ordered = Pick<ChainRange, "relay" | "moves" | "changes" | "foreign">;
type Places = Record<keyof Ordered, number>;
const NAMES = ["relay", "moves", "changes", "foreign"] as const;

/**
 * Cuts off the first blocks, which have at most `most` logs together, or one block that has more.
 * @returns the rest too; null when there is none. It begins with a block that has logs, so the header of that block is known.
 */
export function cut({ read, from, to }: Omit<Slice, "logs">, most: number): [Slice, Omit<Slice, "logs"> | null] {
  let end: Places = { relay: 0, moves: 0, changes: 0, foreign: 0 };
  let next = firstBlock(read, end);
  while (next < Infinity) {
    const after = endOfBlock(read, next, end);
    if (sumOf(end) > 0 && sumOf(after) > most) break;
    end = after;
    next = firstBlock(read, end);
  }
  const logs = sumOf(end);
  if (next === Infinity) return [{ from, to, logs, read }, null];
  return [
    { from, to: next - 1, logs, read: { ...read, ...part(read, null, end), headers: within(read, from, next - 1) } },
    {
      from: next,
      to,
      // Contracts that flood are noted with the first blocks.
      read: { ...read, ...part(read, end, null), headers: within(read, next, to), flooding: new Set() },
    },
  ];
}

/** The first block that has logs from these places on. */
function firstBlock(read: Ordered, places: Places): number {
  return Math.min(...NAMES.map((name) => read[name][places[name]]?.blockNumber ?? Infinity));
}

function endOfBlock(read: Ordered, block: number, places: Places): Places {
  const end = { ...places };
  for (const name of NAMES) while (read[name][end[name]]?.blockNumber === block) end[name] += 1;
  return end;
}

function sumOf({ relay, moves, changes, foreign }: Places): number {
  return relay + moves + changes + foreign;
}

function part(read: Ordered, start: Places | null, end: Places | null): Ordered {
  return {
    relay: read.relay.slice(start?.relay, end?.relay),
    moves: read.moves.slice(start?.moves, end?.moves),
    changes: read.changes.slice(start?.changes, end?.changes),
    foreign: read.foreign.slice(start?.foreign, end?.foreign),
  };
}

function within({ headers }: ChainRange, lowest: number, highest: number): ChainRange["headers"] {
  return new Map([...headers].filter(([number]) => number >= lowest && number <= highest));
}
