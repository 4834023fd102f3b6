import { CID } from "multiformats/cid";

import type { BlockFiles } from "../ipfs/block-files.ts";
import { canonicalCid } from "../ipfs/cids.ts";
import { isDamage, walkBlocks } from "../ipfs/content.ts";
import { namedContent } from "../ipfs/named-content.ts";
import { TakenOver } from "../ipfs/quarantine.ts";
import { forgetAnnouncement } from "../store/media/announcements.ts";
import type { Database } from "../store/db/database.ts";
import { inSnapshot, type Trx } from "../store/db/engine.ts";
import { oldestMediaJob } from "../store/media/media-jobs.ts";
import { forgetFile, storedFiles, textsThatNameContent } from "../store/media/media-roots.ts";
import { forgetPin, isHostedSince } from "../store/media/pins.ts";
import { OperatorError } from "./operator-error.ts";

export interface Collected {
  /** Blocks that something refers to. */
  kept: number;
  removed: number;
  removedBytes: number;
}

/** Blocks whose rows go in one transaction. */
const CHUNK = 200;

/**
 * Removes the blocks that no metadata refers to any more: of replaced or failed media, say. May run while the service
 * does, in any number of processes: what is named in committed rows is never removed.
 *
 * First everything that seems to be needed by nobody is set aside, where nobody can read it. Only then it is looked, in one
 * snapshot, at what is named: what came to be named in between comes back. What is named later was gone already.
 * @param before blocks stored since then stay: metadata that refers to them may be about to be written.
 * @throws OperatorError when content is damaged: what it consists of cannot be told then, so nothing is removed.
 */
export async function collectMedia(
  deps: { database: Database; blocks: BlockFiles },
  before: number,
): Promise<Collected> {
  const { database, blocks } = deps;
  const started = Date.now();
  // What is copied for a request is younger than the request.
  const limit = Math.min(before, started, (await oldestMediaJob(database.read)) ?? Infinity);
  await blocks.giveBackAll();
  const needed = new Set<string>();
  await addNeeded(deps, blocks, needed);
  const aside = blocks.quarantine();
  const result: Collected = { kept: 0, removed: 0, removedBytes: 0 };
  try {
    for await (const { cid } of blocks.all()) {
      if (needed.has(cid.toString()) || !(await aside.take(cid, limit))) result.kept += 1;
    }
    const bringBack = async (cid: CID) => {
      if (await aside.giveBack(cid)) result.kept += 1;
    };
    const reader = {
      has: (cid: CID) => bringBack(cid).then(() => blocks.has(cid)),
      get: (cid: CID) => bringBack(cid).then(() => blocks.get(cid)),
    };
    await addNeeded(deps, reader, needed);
    await forgetAll(deps, await aside.all(), started);
    await aside.decide();
  } catch (error) {
    await aside.giveBackAll();
    if (!(error instanceof TakenOver)) throw error;
    throw new OperatorError(
      "Nothing was removed: a service that started, or another collection, has ended this one. Run it again.",
    );
  }
  for (const cid of await aside.all()) {
    const bytes = await aside.remove(cid);
    if (bytes === null) continue;
    result.removed += 1;
    result.removedBytes += bytes;
  }
  await aside.end();
  await blocks.removeDrafts(limit);
  return result;
}

/** Adds the blocks of all content that is named, as far as it is hosted here. */
async function addNeeded(
  { database }: { database: Database },
  blocks: Pick<BlockFiles, "get" | "has">,
  needed: Set<string>,
): Promise<void> {
  const roots = await inSnapshot(database.read, (db) => namedContent(textsThatNameContent(db)));
  for (const root of roots.values()) {
    // Metadata may name content that is hosted by others.
    if (!(await blocks.has(root))) continue;
    try {
      for await (const _block of walkBlocks(blocks, root, needed));
    } catch (error) {
      if (!isDamage(error) || !(error instanceof Error)) throw error;
      throw new OperatorError(`Nothing was removed: ${error.message}. \`doctor --media\` names all that is damaged.`);
    }
  }
}

/** Before the blocks go: without its rows content can still be collected another time, but not the other way round. */
async function forgetAll({ database }: { database: Database }, cids: CID[], started: number): Promise<void> {
  for (let at = 0; at < cids.length; at += CHUNK) {
    const chunk = cids.slice(at, at + CHUNK);
    await database.write(async (trx) => {
      for (const cid of chunk) await forget(trx, canonicalCid(cid), started);
    });
  }
}

async function forget(trx: Trx, cid: string, started: number): Promise<void> {
  // The same content may have been stored anew meanwhile.
  if (await isHostedSince(trx, cid, started)) return;
  await forgetFile(trx, cid);
  await forgetPin(trx, cid);
  await forgetAnnouncement(trx, cid);
}

/** Of the files that were stored here: how many there are, and those whose first block is missing. */
export async function missingFiles(deps: {
  database: Database;
  blocks: BlockFiles;
}): Promise<{ files: number; missing: string[] }> {
  const result = { files: 0, missing: [] as string[] };
  for await (const cid of storedFiles(deps.database.read)) {
    result.files += 1;
    if (!(await deps.blocks.has(CID.parse(cid)))) result.missing.push(cid);
  }
  return result;
}

/** What is missing or spoilt of the content that metadata refers to, by the content's CID. */
export async function damagedContent(deps: { database: Database; blocks: BlockFiles }): Promise<Map<string, string[]>> {
  const { database, blocks } = deps;
  const stored = new Set<string>();
  for await (const cid of storedFiles(database.read)) stored.add(cid);
  const damaged = new Map<string, string[]>();
  for (const [name, root] of await namedContent(textsThatNameContent(database.read))) {
    // What was never stored here is hosted by others.
    if (!stored.has(name) && !(await blocks.has(root))) continue;
    const problems: string[] = [];
    const note = (error: unknown) => {
      if (!isDamage(error) || !(error instanceof Error)) throw error;
      problems.push(error.message);
    };
    for await (const _block of walkBlocks(blocks, root, new Set(), note));
    if (problems.length > 0) damaged.set(name, problems);
  }
  return damaged;
}
