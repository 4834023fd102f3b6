import { CID } from "multiformats/cid";

import { type BlockStore, QuarantineTakenOver } from "../../content/block-store.ts";
import { canonicalCid, namedContent } from "../../content/cids.ts";
import { type BlockSource, findBlocks, isDamage, walkBlocks } from "../../content/content.ts";
import { forgetAnnouncement } from "../../store/media/announcements.ts";
import type { Database } from "../../store/db/database.ts";
import type { Trx } from "../../store/db/sql.ts";
import { oldestMediaJob } from "../../store/media/media-jobs.ts";
import { forgetFile, storedFiles, textsThatNameContent } from "../../store/media/media-roots.ts";
import { removePin, isHostedSince } from "../../store/media/pins.ts";
import { OperatorError } from "../operator-error.ts";
import { inPages } from "../../shared/at-once.ts";

interface Collected {
  /** Blocks that remain. */
  kept: number;
  removed: number;
  removedBytes: number;
}

/**
 * How long blocks of uploads that no metadata names yet are kept, in milliseconds. The documents of `POST /v1/media` promise a
 * week.
 */
export const KEPT = 7 * 24 * 3_600_000;
/** Blocks per transaction. */
const CHUNK = 200;
/** A new file can have a time from before it was written: some milliseconds, or a second where a file system counts seconds. */
const COARSE_TIMES_MS = 2_000;

/**
 * Garbage collection: removes the blocks that no metadata refers to, such as those of replaced or failed media. Any number
 * of processes may run meanwhile. A block that a committed row refers to is never removed.
 *
 * First, unreferenced blocks move to a quarantine, where nobody can read them. Then one database snapshot shows what is
 * referenced now, and blocks that became referenced in between move back. A reference made after that found no block, so
 * its writer stored the block again.
 * @param before keeps blocks stored since then: metadata that refers to them may not be written yet.
 * @param abort ends it before anything is removed; later it has no effect.
 * @throws the reason of `abort`; OperatorError when content is damaged. Its list of blocks is unknown then, so nothing is removed.
 */
export async function collectMedia(
  deps: { database: Database; blocks: BlockStore },
  before: number,
  abort?: AbortSignal,
): Promise<Collected> {
  const { database, blocks } = deps;
  const started = Date.now();
  // Media of a waiting request is newer than its job.
  const oldestJob = (await oldestMediaJob(database.read)) ?? Infinity;
  const limit = Math.min(before, started, oldestJob - COARSE_TIMES_MS);
  await blocks.restoreQuarantined();
  const needed = new Set<string>();
  await addNeeded(deps, blocks, needed, abort);
  const quarantine = blocks.quarantine();
  const result: Collected = { kept: 0, removed: 0, removedBytes: 0 };
  const quarantined = new Set<string>();
  try {
    for await (const page of inPages(blocks.all(), CHUNK)) {
      abort?.throwIfAborted();
      const unneeded = page.map(({ cid }) => cid).filter((cid) => !needed.has(cid.toString()));
      const moved = unneeded.length === 0 ? [] : await quarantine.add(unneeded, limit);
      for (const cid of moved) quarantined.add(canonicalCid(cid));
      result.kept += page.length - moved.length;
    }
    const restore = async (cid: CID) => {
      if (quarantined.delete(canonicalCid(cid)) && (await quarantine.restore(cid))) result.kept += 1;
    };
    const reader = {
      has: (cid: CID) => restore(cid).then(() => blocks.has(cid)),
      get: (cid: CID) => restore(cid).then(() => blocks.get(cid)),
    };
    await addNeeded(deps, reader, needed, abort);
    // What was named again since that check is restored: from here on, rows decide together with their writers.
    for (const root of await forgetAll(deps, await quarantine.all(), started)) await findBlocks(reader, root, needed);
    await quarantine.confirm();
  } catch (error) {
    await quarantine.restoreAll();
    if (!(error instanceof QuarantineTakenOver)) throw error;
    throw new OperatorError(
      "Nothing was removed: a starting service or another `media collect` took over. Run it again.",
    );
  }
  const removed = await quarantine.remove();
  result.removed = removed.blocks;
  result.removedBytes = removed.bytes;
  await blocks.removeUnfinished(limit);
  return result;
}

/** Adds the blocks of all content that rows refer to and that is hosted here. */
async function addNeeded(
  { database }: { database: Database },
  blocks: BlockSource,
  needed: Set<string>,
  abort: AbortSignal | undefined,
): Promise<void> {
  const roots = await database.snapshot((db) => namedContent(textsThatNameContent(db)));
  for (const root of roots.values()) {
    abort?.throwIfAborted();
    // Metadata may refer to content that others host.
    if (!(await blocks.has(root))) continue;
    try {
      await findBlocks(blocks, root, needed);
    } catch (error) {
      if (!isDamage(error)) throw error;
      throw new OperatorError(`Nothing was removed: ${error.message}. \`doctor --media\` lists all damaged content.`);
    }
  }
}

/**
 * Rows go before blocks: a block without rows is collected next time, but rows without a block are damage.
 * @returns content that was stored or named again since the start. Its rows stay.
 */
async function forgetAll({ database }: { database: Database }, cids: CID[], started: number): Promise<CID[]> {
  const kept: CID[] = [];
  for await (const page of inPages(cids, CHUNK)) {
    const keptHere = await database.write(async (trx) => {
      const found: CID[] = [];
      for (const cid of page) if (!(await forget(trx, canonicalCid(cid), started))) found.push(cid);
      return found;
    });
    kept.push(...keptHere);
  }
  return kept;
}

/** @returns false when the content was stored or named again since the start. */
async function forget(trx: Trx, cid: string, started: number): Promise<boolean> {
  if (await isHostedSince(trx, cid, started)) return false;
  await forgetFile(trx, cid);
  await removePin(trx, cid);
  await forgetAnnouncement(trx, cid);
  return true;
}

/** Counts the stored files and lists those whose first block is missing. */
export async function missingFiles(deps: {
  database: Database;
  blocks: BlockStore;
}): Promise<{ files: number; missing: string[] }> {
  const result = { files: 0, missing: [] as string[] };
  for await (const cid of storedFiles(deps.database.read)) {
    result.files += 1;
    if (!(await deps.blocks.has(CID.parse(cid)))) result.missing.push(cid);
  }
  return result;
}

/** Missing and corrupt blocks of the content that metadata refers to, by the CID of the content. */
export async function damagedContent(deps: { database: Database; blocks: BlockStore }): Promise<Map<string, string[]>> {
  const { database, blocks } = deps;
  const stored = new Set<string>();
  for await (const cid of storedFiles(database.read)) stored.add(cid);
  const damaged = new Map<string, string[]>();
  for (const [name, root] of await namedContent(textsThatNameContent(database.read))) {
    // Content that was never stored here is hosted by others.
    if (!stored.has(name) && !(await blocks.has(root))) continue;
    const problems: string[] = [];
    const note = (error: unknown) => {
      if (!isDamage(error)) throw error;
      problems.push(error.message);
    };
    for await (const _block of walkBlocks(blocks, root, new Set(), note));
    if (problems.length > 0) damaged.set(name, problems);
  }
  return damaged;
}
