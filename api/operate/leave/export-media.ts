import { rm } from "node:fs/promises";
import { join } from "node:path";

import { CID } from "multiformats/cid";

import { BlockFiles } from "../../content/block-files.ts";
import type { BlockStore } from "../../content/block-store.ts";
import { canonicalCid, hasLinks, parseIpfsUri } from "../../content/cids.ts";
import { findFile, importContent, isDamage, walkBlocks } from "../../content/content.ts";
import { extensionOf } from "../../content/media-type.ts";
import { forEachAtOnce } from "../../shared/at-once.ts";
import { writeHashed } from "../../shared/hashed-files.ts";
import type { Db } from "../../store/db/sql.ts";
import { exportMedia } from "../../store/listings/exports.ts";
import { FROZEN } from "../../store/requests/freezing.ts";
import { BLOCKS, MEDIA, type MediaRow } from "./manifest.ts";
import { collectionsOf } from "./rows.ts";

/** Of what the service has lost. */
const LOST = { file: null, sha256: null, blocks: false } as const;
/** Files that are copied at the same time. */
const AT_ONCE = 8;
const NOWHERE = { put: () => Promise.resolve() };

/**
 * Writes the files of an app into the folders `media` and `blocks`, a few at a time.
 * @returns the lines of the list.
 */
export async function* copyMediaOut(
  db: Db,
  appId: string,
  { blocks, folder }: { blocks: BlockStore; folder: string },
): AsyncGenerator<MediaRow[]> {
  const exact = new BlockFiles(join(folder, BLOCKS));
  const copyBlocks = async (root: CID) => {
    for await (const { cid, bytes } of walkBlocks(blocks, root, new Set())) await exact.put(cid, bytes);
    return true;
  };
  const copyFile = async (cid: CID, path: string) => {
    const found = await findFile(blocks, cid, "");
    if (found === null) return LOST;
    const { sha256 } = await writeHashed(join(folder, path), found.read());
    // Others may have split it in another way, or the CID is one of a directory: then its bytes alone do not give its CID.
    const isPlain = !hasLinks(cid) || (await importContent(NOWHERE, found.read())).cid.equals(cid);
    return { file: path, sha256, blocks: !isPlain && (await copyBlocks(cid)) };
  };
  for await (const page of exportMedia(db, appId)) {
    const rows: MediaRow[] = [];
    await forEachAtOnce(page.entries(), AT_ONCE, async ([index, media]) => {
      const path = `${MEDIA}/${media.cid}.${extensionOf(media.type)}`;
      const copied = await unlessDamaged(copyFile(CID.parse(media.cid), path));
      if (copied === null) await rm(join(folder, path), { force: true });
      rows[index] = { ...media, ...(copied ?? LOST) };
    });
    yield rows;
  }
  for await (const page of collectionsOf(db, appId)) {
    for (const { metadata_frozen: state, base_uri: uri } of page) {
      const cid = state === FROZEN && uri !== null ? parseIpfsUri(uri)?.cid : undefined;
      if (cid === undefined || !(await blocks.has(cid))) continue;
      const isCopied = (await unlessDamaged(copyBlocks(cid))) ?? false;
      yield [{ cid: canonicalCid(cid), type: null, size: null, ...LOST, blocks: isCopied }];
    }
  }
}

/** null: a block is missing or damaged. */
async function unlessDamaged<T>(copy: Promise<T>): Promise<T | null> {
  return copy.catch((error: unknown) => {
    if (isDamage(error)) return null;
    throw error;
  });
}
