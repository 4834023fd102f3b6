import { openBlocks } from "../blocks/open-blocks.ts";
import { parseSettings } from "../config/settings.ts";
import type { BlockStore } from "../ipfs/block-store.ts";
import { OperatorError } from "../operator/operator-error.ts";
import type { Database } from "../store/db/database.ts";
import { readMediaPlace } from "../store/media/media-store.ts";
import { withDatabase } from "./database.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Opens the database and the block store of the settings. The service may be running.
 * @throws OperatorError when the hosted content is in another store.
 */
export function withMedia<T>(
  terminal: Terminal,
  work: (media: { database: Database; blocks: BlockStore }) => Promise<T>,
): Promise<T> {
  const { mediaStore, dataDir } = parseSettings(terminal.env);
  return withDatabase(terminal, async (database) => {
    const { store } = await readMediaPlace(database.read);
    const { blocks, close } = openBlocks(mediaStore, { dataDir, database });
    try {
      if (store !== null && store !== blocks.name)
        throw new OperatorError(
          `Hosted media are in ${store}, but MEDIA_STORE says ${blocks.name}: correct MEDIA_STORE.`,
        );
      return await work({ database, blocks });
    } finally {
      await close();
    }
  });
}
