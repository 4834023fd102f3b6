import { join } from "node:path";

import { CID } from "multiformats/cid";

import { recordUpload, requireFits, uploadMedia, UploadPlaces } from "../../commands/upload-media.ts";
import type { Limits } from "../../config/limits.ts";
import { BlockFiles } from "../../content/block-files.ts";
import type { BlockStore } from "../../content/block-store.ts";
import { findFile, isDamage, walkBlocks } from "../../content/content.ts";
import { sniffMediaType } from "../../content/media-type.ts";
import { readRegular } from "../../shared/hashed-files.ts";
import type { Database } from "../../store/db/database.ts";
import { mediaStoreProblem } from "../../store/media/media-store.ts";
import { hostContent, isHosted, isStored } from "../../store/media/media.ts";
import { OperatorError } from "../operator-error.ts";
import { BLOCKS, type MediaRow, parts } from "./manifest.ts";

interface MediaDeps {
  database: Database;
  blocks: BlockStore;
  settings: { limits: Pick<Limits, "mediaBytes"> };
}

const uploads = new UploadPlaces();

/**
 * Stores content of an export for an app, within its quotas. The CID stays.
 * @returns `present`: the app has it already.
 * @throws ApiError when it does not fit; OperatorError when the export is damaged.
 */
export async function importMedia(
  deps: MediaDeps,
  appId: string,
  { folder, row }: { folder: string; row: MediaRow },
): Promise<"added" | "present" | "lost"> {
  const { cid, type, file, size, sha256, blocks } = row;
  const { read } = deps.database;
  if (await (type === null ? isHosted(read, cid) : isStored(read, appId, cid))) return "present";
  if (blocks) return importBlocks(deps, appId, { folder, row });
  if (file === null) return "lost";
  await parts.requirePart(folder, file, { bytes: size ?? 0, sha256: sha256 ?? "" });
  const bytes = readRegular(join(folder, file));
  const stored = await uploadMedia({ ...deps, uploads }, appId, { type: null, length: size, bytes });
  if (stored.cid !== cid) throw parts.damaged(folder, file, "has other bytes than its CID says");
  return "added";
}

/** Stores blocks as they are. None is stored before all of them were read and have the right hash. */
async function importBlocks(
  { database, blocks, settings }: MediaDeps,
  appId: string,
  { folder, row: { cid, type } }: { folder: string; row: MediaRow },
): Promise<"added"> {
  const root = CID.parse(cid);
  const draft = blocks.draft();
  try {
    const source = new BlockFiles(join(folder, BLOCKS));
    for await (const block of walkBlocks(source, root, new Set())) await draft.put(block.cid, block.bytes);
    const file = type === null ? null : await findFile(draft, root, "");
    if (type !== null && file === null) throw parts.damaged(folder, BLOCKS, `has no file with the CID ${cid}`);
    const stored = file === null ? null : { cid, size: file.size, type: await sniffMediaType(file.read()) };
    if (stored !== null) await requireFits(database.read, appId, stored, settings.limits.mediaBytes);
    await blocks.adopt(draft);
    await database.write(async (trx) => {
      if (stored !== null) return recordUpload(trx, blocks.name, { appId, file: stored });
      const problem = await mediaStoreProblem(trx, blocks.name);
      if (problem !== null) throw new OperatorError(problem);
      await hostContent(trx, [], [cid], Date.now());
    });
    return "added";
  } catch (error) {
    await draft.drop();
    throw isDamage(error) ? parts.damaged(folder, BLOCKS, `lacks content of ${cid}: ${error.message}`) : error;
  }
}
