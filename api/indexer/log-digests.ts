import { createHash } from "node:crypto";

import { MOVE_TOPICS } from "../chain/codec/decode.ts";
import type { RawLog } from "../chain/query-logs.ts";
import { mapInSlices } from "../shared/in-slices.ts";

/** A digest of the logs of each block. A block without logs is absent. Two nodes with the same logs have equal digests. */
type ByBlock = ReadonlyMap<number, string>;

export interface LogDigests {
  /** Of the relay, the factories and the collections. */
  own: ByBlock;
  /** Of the followed contracts; null: they have more logs than the service reads. */
  foreign: ByBlock | null;
}

/** The digests of one block; null: not known. */
export interface BlockDigest {
  own: string | null;
  foreign: string | null;
}

export async function digestLogs(own: readonly RawLog[], foreign: readonly RawLog[] | null): Promise<LogDigests> {
  return { own: await byBlock(own), foreign: foreign === null ? null : await byBlock(foreign.filter(isMove)) };
}

export function digestAt({ own, foreign }: LogDigests, block: number): BlockDigest {
  return { own: own.get(block) ?? "", foreign: foreign === null ? null : (foreign.get(block) ?? "") };
}

/** Queries for few and for many contracts return different logs, but both return NFT transfers: only those are compared. */
function isMove({ topics }: RawLog): boolean {
  return topics.length === 4 && MOVE_TOPICS.includes(topics[0] ?? "");
}

async function byBlock(logs: readonly RawLog[]): Promise<ByBlock> {
  const digested = await mapInSlices(
    [...Map.groupBy(logs, ({ blockNumber }) => blockNumber)],
    ([block, ofBlock]) => [block, digest(ofBlock)] as const,
  );
  return new Map(digested);
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
