import { join } from "node:path";

import type { MediaStoreSetting } from "../config/media-store.ts";
import { BlockFiles } from "../ipfs/block-files.ts";
import type { BlockStore } from "../ipfs/block-store.ts";
import { DiskRoom } from "../ipfs/disk-room.ts";
import type { Database } from "../store/db/database.ts";
import { DatabaseObjects } from "./database-objects.ts";
import { IndexedBlocks } from "./indexed-blocks.ts";
import type { ObjectStore } from "./object-store.ts";
import { S3Objects } from "./s3-objects.ts";

/**
 * Opens a block store. Nothing is created or checked yet.
 * @param keepFree bytes of the disk of `dataDir` that new blocks leave free; null: they may fill it.
 */
export function openBlocks(
  setting: MediaStoreSetting,
  { dataDir, database, keepFree = null }: { dataDir: string; database: Database; keepFree?: number | null },
): { blocks: BlockStore; close: () => Promise<void> } {
  const local = new BlockFiles(join(dataDir, "blocks"), keepFree === null ? null : new DiskRoom(dataDir, keepFree));
  const indexed = (objects: ObjectStore) => new IndexedBlocks({ database, objects, local, now: () => Date.now() });
  switch (setting.kind) {
    case "files":
      return { blocks: local, close: () => Promise.resolve() };
    case "database":
      return { blocks: indexed(new DatabaseObjects(database)), close: () => Promise.resolve() };
    case "s3": {
      const objects = new S3Objects(setting.bucket);
      return { blocks: indexed(objects), close: () => objects.close() };
    }
  }
}
