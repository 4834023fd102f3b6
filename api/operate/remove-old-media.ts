import type { CID } from "multiformats/cid";

import type { BlockStore } from "../content/block-store.ts";
import type { Database } from "../store/db/database.ts";
import { readMediaPlace } from "../store/media/media-store.ts";
import { OperatorError } from "./operator-error.ts";

export interface OldMediaRemoved {
  removed: number;
  removedBytes: number;
  /** Blocks that were stored in the last minutes. They are removed when this runs again later. */
  kept: number;
}

/** Blocks that are taken out at once. */
const AT_ONCE = 1_000;
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
  let [group, kept]: [CID[], number] = [[], 0];
  const takeOut = async () => {
    if (group.length > 0) kept += group.length - (await doomed.add(group, Infinity)).length;
    group = [];
  };
  for await (const { cid } of old.all()) {
    group.push(cid);
    if (group.length === AT_ONCE) await takeOut();
  }
  await takeOut();
  await doomed.confirm();
  const { blocks, bytes } = await doomed.remove();
  return { removed: blocks, removedBytes: bytes, kept };
}
