import type { Trx } from "../db/engine.ts";
import { readMeta } from "../db/meta.ts";
import { storedBlock } from "./blocks.ts";
import { checkpointOf } from "./follow.ts";

/** The last stored block when a read began. */
export interface ReadStart {
  checkpoint: number;
  /** null when the block is not stored. */
  hash: string | null;
}

export async function startOfRead(trx: Trx): Promise<ReadStart> {
  const checkpoint = await checkpointOf(trx);
  return { checkpoint, hash: (await storedBlock(trx, checkpoint))?.hash ?? null };
}

/** Whether blocks that are deep enough to be final are not stored yet: the indexer catches up. */
export async function isCatchingUp(trx: Trx): Promise<boolean> {
  return Number((await readMeta(trx, "confirmed_block")) ?? 0) > (await checkpointOf(trx));
}

/** Whether the block at which a read began was dropped by a reorg. */
export async function isDropped(trx: Trx, { checkpoint, hash }: ReadStart): Promise<boolean> {
  if ((await checkpointOf(trx)) < checkpoint) return true;
  const stored = await storedBlock(trx, checkpoint);
  return hash !== null && stored !== undefined && stored.hash !== hash;
}
