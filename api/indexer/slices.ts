import { moveCountOf } from "../chain/codec/decode.ts";
import type { Engine } from "../store/db/sql.ts";
import type { ChainRange } from "./read-range.ts";

/**
 * Milliseconds that the commit of one slice should take. Meanwhile no other write gets its turn on SQLite. On PostgreSQL
 * only mints in the same collections wait, and each commit costs more.
 */
const TARGET = { sqlite: 30, postgres: 80 } as const;
/** Moves and other events of a slice: at first, and the bounds. */
const FIRST = 500;
const FEWEST = 250;
const MOST = 5_000;

/**
 * How many moves and other events are stored in one commit. It adapts to how long commits take: calls of the API, which write
 * too, must not wait long while the indexer catches up. Not an `AdaptiveSize`: no commit fails, and its time tells which size is right.
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

  /** @param milliseconds that the commit of so many moves took. */
  took(moves: number, milliseconds: number): void {
    // A commit of few moves says little about one of many.
    if (moves < this.#value / 2) return;
    const factor = Math.min(2, Math.max(0.5, this.#target / milliseconds));
    this.#value = Math.round(Math.min(MOST, Math.max(FEWEST, this.#value * factor)));
  }
}

/** Consecutive blocks that were read: what one commit stores. */
export interface Slice extends ChainRange {
  /** Moves and other events. A log that is not decoded yet counts as its moves. */
  size: number;
  /** The blocks after it, which are still to be stored; null: there are none. */
  rest: ChainRange | null;
}

type Ordered = Pick<ChainRange, "relay" | "moves" | "changes" | "foreign">;
type Positions = Record<keyof Ordered, number>;
const NAMES = ["relay", "moves", "changes", "foreign"] as const;

/**
 * Cuts off the first blocks, which have at most `most` moves and other events together, or one block that has more. The rest
 * begins with a block that has logs, so the header of that block is known.
 */
export function cut(range: ChainRange, most: number): Slice {
  let end: Positions = { relay: 0, moves: 0, changes: 0, foreign: 0 };
  let size = 0;
  let next = firstBlock(range, end);
  while (next < Infinity) {
    const after = endOfBlock(range, next, end);
    const further = sizeBetween(range, end, after);
    if (size > 0 && size + further > most) break;
    [end, size] = [after, size + further];
    next = firstBlock(range, end);
  }
  if (next === Infinity) return { ...range, size, rest: null };
  const { from, to } = range;
  const first = { to: next - 1, ...part(range, null, end), headers: within(range, from, next - 1) };
  // Contracts that flood are noted with the first blocks.
  const later = {
    from: next,
    ...part(range, end, null),
    headers: within(range, next, to),
    flooding: new Set<string>(),
  };
  return { ...range, ...first, size, rest: { ...range, ...later } };
}

/** The first block that has logs from these positions on. */
function firstBlock(read: Ordered, positions: Positions): number {
  return Math.min(...NAMES.map((name) => read[name][positions[name]]?.blockNumber ?? Infinity));
}

function endOfBlock(read: Ordered, block: number, positions: Positions): Positions {
  const end = { ...positions };
  for (const name of NAMES) while (read[name][end[name]]?.blockNumber === block) end[name] += 1;
  return end;
}

function sizeBetween({ foreign }: Ordered, start: Positions, end: Positions): number {
  const logs = foreign.slice(start.foreign, end.foreign);
  const decoded = end.relay - start.relay + (end.moves - start.moves) + (end.changes - start.changes);
  return decoded + logs.reduce((sum, log) => sum + moveCountOf(log), 0);
}

function part(read: Ordered, start: Positions | null, end: Positions | null): Ordered {
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
