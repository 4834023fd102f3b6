import type { BlockStore } from "../ipfs/block-store.ts";
import type { Database } from "../store/db/database.ts";
import { chooseMediaStore, hasContent, readMediaPlace } from "../store/media/media-store.ts";
import { StartupError } from "./startup-error.ts";

/**
 * Checks that the block store of the settings has the hosted content, and that it works.
 * @throws StartupError
 */
export async function requireMediaStore(database: Database, blocks: BlockStore): Promise<void> {
  const { store, movingFrom } = await readMediaPlace(database.read);
  if (movingFrom !== null) {
    throw new StartupError(
      `Hosted media are being moved from ${movingFrom} to ${store ?? ""}, and some are not copied yet. ` +
        `Run \`npm run cli -- media move --to ${store ?? ""}\` again, with MEDIA_STORE as before the move.`,
    );
  }
  if (store !== null && store !== blocks.name && (await hasContent(database.read))) {
    throw new StartupError(
      `Hosted media are in ${store}, but MEDIA_STORE says ${blocks.name}. Set MEDIA_STORE back, or copy the media first: ` +
        `\`MEDIA_STORE=${store} npm run cli -- media move --to ${blocks.name}\`.`,
    );
  }
  const problem = await blocks.problem();
  if (problem !== null) throw new StartupError(`Media cannot be stored (MEDIA_STORE). ${problem}`);
  if (store !== blocks.name) await database.write((trx) => chooseMediaStore(trx, blocks.name));
}
