import { join } from "node:path";

import type { MediaStoreSetting } from "../../config/media-store.ts";
import type { Database } from "../../store/db/database.ts";
import { DatabaseObjects } from "../../store/media/blocks.ts";
import { BlockFiles, DiskReserve } from "../block-files.ts";
import type { BlockStore } from "../block-store.ts";
import { IndexedBlocks } from "./indexed-blocks.ts";
import { S3Objects } from "./s3-objects.ts";

/**
 * Opens a block store. Nothing is created or checked yet.
 * @param keepFree bytes of the disk of `dataDir` that new blocks leave free; null: they may fill it.
 */
export function openBlocks(
  setting: MediaStoreSetting,
  { dataDir, database, keepFree = null }: { dataDir: string; database: Database; keepFree?: number | null },
): BlockStore {
  const local = new BlockFiles(join(dataDir, "blocks"), keepFree === null ? null : new DiskReserve(dataDir, keepFree));
  if (setting.kind === "files") return local;
  const objects = setting.kind === "database" ? new DatabaseObjects(database) : new S3Objects(setting.bucket);
  return new IndexedBlocks({ database, objects, local });
}
