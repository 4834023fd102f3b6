import type { BlockFiles } from "../ipfs/block-files.ts";
import { isDamage, walkBlocks } from "../ipfs/content.ts";
import { namedContent } from "../ipfs/named-content.ts";
import type { Database } from "../store/database.ts";
import { forgetFile, storedFiles, textsThatNameContent } from "../store/media-roots.ts";
import { forgetPin } from "../store/pins.ts";
import { OperatorError } from "./operator-error.ts";

export interface Collected {
  /** Blocks that something refers to. */
  kept: number;
  removed: number;
  removedBytes: number;
}

/**
 * Removes the blocks that no metadata refers to any more: of replaced or failed media, say.
 * @param before blocks stored since then stay: metadata that refers to them may be about to be written.
 * @throws OperatorError when content is damaged: what it consists of cannot be told then, so nothing is removed.
 */
export async function collectMedia(
  deps: { database: Database; blocks: BlockFiles },
  before: number,
): Promise<Collected> {
  const { database, blocks } = deps;
  const needed = new Set<string>();
  for (const root of (await namedContent(textsThatNameContent(database.read))).values()) {
    // Metadata may name content that is hosted by others.
    if (!(await blocks.has(root))) continue;
    try {
      for await (const _block of walkBlocks(blocks, root, needed));
    } catch (error) {
      if (!isDamage(error) || !(error instanceof Error)) throw error;
      throw new OperatorError(`Nothing was removed: ${error.message}. \`doctor --media\` names all that is damaged.`);
    }
  }
  const result: Collected = { kept: 0, removed: 0, removedBytes: 0 };
  for await (const { cid, bytes } of blocks.all()) {
    if (needed.has(cid.toString()) || !(await blocks.deleteIfOlder(cid, before))) {
      result.kept += 1;
      continue;
    }
    result.removed += 1;
    result.removedBytes += bytes;
    await database.write(async (trx) => {
      await forgetFile(trx, cid.toString());
      await forgetPin(trx, cid.toString());
    });
  }
  await blocks.removeDrafts(before);
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
