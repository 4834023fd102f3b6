import { CID } from "multiformats/cid";

import type { BlockFiles } from "../../content/block-files.ts";
import type { BlockStore } from "../../content/block-store.ts";
import { canonicalCid, namedContent } from "../../content/cids.ts";
import { isDamage, walkBlocks } from "../../content/content.ts";
import { forEachAtOnce } from "../../shared/at-once.ts";
import { fileErrorReason, FolderError } from "../../shared/folder.ts";
import type { Db } from "../../store/db/sql.ts";
import { hostedContent, textsThatNameContent } from "../../store/media/media-roots.ts";
import { OperatorError } from "../operator-error.ts";

/** Explains the errors of files and disks. @param result what the operator must know about the command as a whole. */
export async function explainingDisk<T>(result: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FolderError || error instanceof OperatorError || !(error instanceof Error)) throw error;
    // Damage: a block that was just written was read back with other bytes.
    const reason = isDamage(error)
      ? `the disk returns other bytes than were written (${error.message})`
      : fileErrorReason(error);
    if (reason === null) throw error;
    const place = "path" in error ? ` (${String(error.path)})` : "";
    throw new OperatorError(`${result}: ${reason}${place}.`, { cause: error });
  }
}

interface CopiedBlocks {
  /** Bytes of each copied block, by its CID. */
  blocks: Map<string, number>;
  /** CIDs of blocks that are needed and missing or damaged. */
  damaged: string[];
}

/** Blocks that are written at once. Each is in memory meanwhile. */
const AT_ONCE = 4;

/**
 * Copies the blocks of all content that the rows of a snapshot name. Each is checked against its hash when it is read, and
 * once more when it is read back.
 *
 * A garbage collection may run meanwhile. Blocks that it has only set aside are put back; what it has deleted since the
 * snapshot is missing, and the caller takes a newer snapshot.
 */
export async function copyNeededBlocks(db: Db, source: BlockStore, target: BlockFiles): Promise<CopiedBlocks> {
  const copied: CopiedBlocks = { blocks: new Map(), damaged: [] };
  const seen = new Set<string>();
  const note = (error: unknown) => {
    if (!isDamage(error)) throw error;
    copied.damaged.push(error.cid);
  };
  const blocks = async function* () {
    for (const root of await neededRoots(db, source)) yield* walkBlocks(source, root, seen, note);
  };
  await forEachAtOnce(blocks(), AT_ONCE, async ({ cid, bytes }) => {
    await target.put(cid, bytes);
    // Reads it back: `get` checks the hash.
    await target.get(cid);
    copied.blocks.set(canonicalCid(cid), bytes.length);
  });
  copied.damaged.sort();
  if (copied.damaged.length > 0) await source.restoreQuarantined();
  return copied;
}

/** All content that is hosted, and other content that metadata names and that is stored here by chance. */
async function neededRoots(db: Db, source: BlockStore): Promise<CID[]> {
  const roots = new Map<string, CID>();
  for await (const cid of hostedContent(db)) roots.set(cid, CID.parse(cid));
  for (const [name, cid] of await namedContent(textsThatNameContent(db))) {
    // Metadata may name content that others host.
    if (!roots.has(name) && (await source.has(cid))) roots.set(name, cid);
  }
  return [...roots.values()];
}
