import { createHash } from "node:crypto";

import { MOVE_TOPICS } from "../chain/codec/decode.ts";
import type { RawLog } from "../chain/query-logs.ts";
import { mapInSlices } from "../shared/in-slices.ts";
import type { ChainRange } from "./read-range.ts";

/** Blocks whose logs are kept at most. */
const MOST_KEPT = 50_000;

/** Digests of the logs of blocks. Two nodes with the same logs have equal ones. */
export interface LogSet {
  /** Of the relay, the factories and the collections. */
  own: string;
  /** Of the followed contracts; null: they have more logs than the service reads, or are other ones now. */
  foreign: string | null;
}

/** The logs of each block that was read. */
export type LogsAt = (block: number) => LogSet;

/** Blocks whose logs another node must have, too. `of` gives the same blocks of another answer. */
export interface LogQuestion {
  from: number;
  logs: LogSet;
  of: (logs: LogsAt) => LogSet;
}

/**
 * The logs that were read of blocks that no receipt proves. They stay here until a second node has said the same: what counts is
 * what was stored, also if the node that said it says something else now.
 */
export class UnprovenLogs {
  readonly #blocks = new Map<number, LogSet & { version: number }>();

  /** Blocks that were stored. @param above those up to this one need no comparison. */
  add(blocks: ChainRange, above: number): void {
    for (const [block, logs] of unprovenOf(blocks)) if (block > above) this.#blocks.set(block, logs);
    for (const oldest of this.#blocks.keys()) {
      if (this.#blocks.size <= MOST_KEPT) return;
      this.#blocks.delete(oldest);
    }
  }

  /** Blocks outside of these bounds are compared, or were undone. */
  keep({ above = -1, upTo = Infinity }: { above?: number; upTo?: number }): void {
    for (const block of this.#blocks.keys()) if (block <= above || block > upTo) this.#blocks.delete(block);
  }

  /**
   * What to ask about the logs up to a block. Null: receipts prove them all.
   * @param version of the followed contracts now. @param read blocks that are not stored yet; null: none.
   */
  question(to: number, version: number, read: ChainRange | null): LogQuestion | null {
    const known = [...this.#blocks, ...(read === null ? [] : unprovenOf(read))];
    const blocks = new Map(known.filter(([block]) => block <= to));
    const [from] = blocks.keys();
    if (from === undefined) return null;
    const logs = joined([...blocks.values()]);
    const isSameVersion = [...blocks.values()].every((one) => one.version === version);
    return {
      from,
      logs: isSameVersion ? logs : { ...logs, foreign: null },
      of: (logsAt) => joined([...blocks.keys()].map(logsAt)),
    };
  }
}

function unprovenOf({ from, to, unproven, indexed }: ChainRange): [number, LogSet & { version: number }][] {
  if (unproven === null) return [];
  return Array.from({ length: to - from + 1 }, (_, index) => [
    from + index,
    { ...unproven(from + index), version: indexed.foreignVersion },
  ]);
}

export function isSameSet(one: LogSet, other: LogSet): boolean {
  if (one.own !== other.own) return false;
  return one.foreign === null || other.foreign === null || one.foreign === other.foreign;
}

export async function digestLogs(own: readonly RawLog[], foreign: readonly RawLog[] | null): Promise<LogsAt> {
  const [ours, others] = [await byBlock(own), foreign === null ? null : await byBlock(foreign.filter(isMove))];
  return (block) => ({ own: ours.get(block) ?? "", foreign: others === null ? null : (others.get(block) ?? "") });
}

function joined(sets: readonly LogSet[]): LogSet {
  const foreign = sets.map((one) => one.foreign);
  return { own: sets.map(({ own }) => own).join(), foreign: foreign.includes(null) ? null : foreign.join() };
}

/** Queries for few and for many contracts return different logs, but both return NFT transfers: only those are compared. */
function isMove({ topics }: RawLog): boolean {
  return topics.length === 4 && MOVE_TOPICS.includes(topics[0] ?? "");
}

/** A block without logs is absent. */
async function byBlock(logs: readonly RawLog[]): Promise<Map<number, string>> {
  const blocks = [...Map.groupBy(logs, ({ blockNumber }) => blockNumber)];
  return new Map(await mapInSlices(blocks, ([block, ofBlock]): [number, string] => [block, digest(ofBlock)]));
}

/** The order counts, but not the index itself. */
function digest(logs: readonly RawLog[]): string {
  const sum = createHash("sha256");
  for (const log of logs.toSorted((a, b) => a.logIndex - b.logIndex)) {
    const { address, topics, data, blockHash, transactionHash } = log;
    sum.update(JSON.stringify([blockHash, transactionHash, address, topics, data.toLowerCase()]));
  }
  return sum.digest("hex");
}
