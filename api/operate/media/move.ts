import type { CID } from "multiformats/cid";

import type { BlockStore } from "../../content/block-store.ts";
import { isDamage } from "../../content/content.ts";
import { forEachAtOnce, inPages } from "../../shared/at-once.ts";
import type { Database } from "../../store/db/database.ts";
import { finishMediaMove, readMediaPlace, switchMediaStore } from "../../store/media/media-store.ts";
import { OperatorError } from "../operator-error.ts";

interface Moved {
  /** Blocks that this run copied. */
  copied: number;
  copiedBytes: number;
  /** Blocks that the target had already. */
  present: number;
}

interface MoveDeps {
  database: Database;
  source: BlockStore;
  target: BlockStore;
  /** Called now and then with the number of blocks so far. */
  progress: (blocks: number) => void;
}

/** Blocks that are copied at once. Each is in memory meanwhile. */
const AT_ONCE = 4;

/**
 * Copies all blocks to another store, switches the service to it, then copies what was stored in the meantime. The source
 * stays as it is. Each block is read back from the target, and its hash is checked.
 *
 * Processes with the old setting may run: after the switch they finish no more media, and say what to do. After a crash,
 * run it again: it continues with the blocks that are missing in the target.
 * @throws OperatorError
 */
export async function moveMedia(deps: MoveDeps): Promise<Moved> {
  const { database, source, target } = deps;
  const continued = await isContinued(deps);
  const problem = await target.problem();
  if (problem !== null) throw new OperatorError(`Media cannot be moved to ${target.name}. ${problem}`);
  if (continued) {
    const rest = await copyBlocks(deps);
    await database.write((trx) => finishMediaMove(trx));
    return rest;
  }
  const first = await copyBlocks(deps);
  await database.write((trx) => switchMediaStore(trx, source.name, target.name));
  const rest = await copyBlocks(deps);
  await database.write((trx) => finishMediaMove(trx));
  return {
    copied: first.copied + rest.copied,
    copiedBytes: first.copiedBytes + rest.copiedBytes,
    present: first.present,
  };
}

/** Whether an earlier run has switched the service to the target already. @throws OperatorError */
async function isContinued({ database, source, target }: MoveDeps): Promise<boolean> {
  if (source.name === target.name) throw new OperatorError(`Hosted media are in ${source.name} already.`);
  const { store, movingFrom } = await readMediaPlace(database.read);
  if (movingFrom === source.name && store === target.name) return true;
  if (movingFrom !== null) {
    throw new OperatorError(
      `A move from ${movingFrom} to ${store ?? ""} is unfinished. Finish it first, with MEDIA_STORE=${movingFrom}.`,
    );
  }
  if (store !== null && store !== source.name)
    throw new OperatorError(`Hosted media are in ${store}, not in ${source.name}: set MEDIA_STORE to where they are.`);
  return false;
}

/** Copies the blocks that the target does not have. */
async function copyBlocks({ source, target, progress }: MoveDeps): Promise<Moved> {
  const counts: Moved = { copied: 0, copiedBytes: 0, present: 0 };
  const copy = async (cid: CID) => {
    if (await target.has(cid)) {
      counts.present += 1;
      return;
    }
    const bytes = await source.get(cid);
    await target.put(cid, bytes);
    // Reads it back: `get` checks the hash.
    await target.get(cid);
    counts.copied += 1;
    counts.copiedBytes += bytes.length;
  };
  await forEachAtOnce(source.all(), AT_ONCE, async ({ cid }) => {
    await copy(cid).catch((error: unknown) => {
      throw explained(error);
    });
    progress(counts.copied + counts.present);
  });
  return counts;
}

function explained(error: unknown): unknown {
  if (!isDamage(error)) return error;
  return new OperatorError(
    `The move stopped: ${error.message}. \`doctor --media\` lists all damaged content. If nothing refers to this block, ` +
      "`media collect` removes it. Then run the move again.",
    { cause: error },
  );
}

interface OldMediaRemoved {
  removed: number;
  removedBytes: number;
  /** Blocks that were stored in the last minutes. They are removed when this runs again later. */
  kept: number;
}

/** Blocks that are taken out at once. */
const REMOVED_AT_ONCE = 1_000;
/** Downloads of the running service use drafts in the same folder. An older one than this is from a process that died. */
const DRAFT_MAX_AGE = 24 * 3_600_000;

/**
 * Deletes the copy of all hosted media that `moveMedia` has left in the old place.
 * @throws OperatorError when the service uses that place, or a move is unfinished. Then nothing is deleted.
 */
export async function removeOldMedia(database: Database, old: BlockStore): Promise<OldMediaRemoved> {
  const { store, movingFrom } = await readMediaPlace(database.read);
  if (movingFrom !== null)
    throw new OperatorError(`A move from ${movingFrom} to ${store ?? ""} is unfinished. Finish it first.`);
  if (store === null || store === old.name)
    throw new OperatorError(
      `Hosted media are in ${old.name}: this is not an old copy. Move them first with \`media move\`.`,
    );
  // Blocks that an interrupted garbage collection has taken out are a part of the copy too.
  await old.restoreQuarantined();
  await old.removeUnfinished(Date.now() - DRAFT_MAX_AGE);
  const doomed = old.quarantine();
  let kept = 0;
  for await (const page of inPages(old.all(), REMOVED_AT_ONCE)) {
    const cids = page.map(({ cid }) => cid);
    kept += cids.length - (await doomed.add(cids, Infinity)).length;
  }
  await doomed.confirm();
  const { blocks, bytes } = await doomed.remove();
  return { removed: blocks, removedBytes: bytes, kept };
}
