import type { Command } from "commander";

import { openBlocks } from "../../blocks/open-blocks.ts";
import { parseMediaStoreText, parseSettings } from "../../config/settings.ts";
import { removeOldMedia } from "../../operator/remove-old-media.ts";
import { plural } from "../../shared/plural.ts";
import { announced } from "../announced.ts";
import { withDatabase } from "../database.ts";
import { printResult, resultCommand, type Terminal } from "../terminal.ts";

export function mediaRemoveOld(terminal: Terminal): Command {
  return resultCommand("remove-old", "Delete the copy of the media that `media move` left in the old place.", {
    examples: ["media remove-old --from files", "media remove-old --from database"],
    json: "{from, removed, removed_bytes, kept}",
    notes:
      "First set MEDIA_STORE to the new place, restart all processes, and check with `doctor --media`.\n" +
      "The place that the service uses is refused. The service may run.",
  })
    .requiredOption("--from <place>", "the old place: files, database or s3://<bucket>/<prefix>")
    .action(async ({ json, from }: { json?: boolean; from: string }) => {
      const { dataDir } = parseSettings(terminal.env);
      const place = parseMediaStoreText(terminal.env, from);
      await withDatabase(terminal, async (database) => {
        const { blocks, close } = openBlocks(place, { dataDir, database });
        try {
          const { removed, removedBytes, kept } = await announced(database, () => removeOldMedia(database, blocks));
          const lines = [`removed: ${plural(removed, "block")} (${plural(removedBytes, "byte")})`];
          if (kept > 0)
            lines.push(
              `kept:    ${plural(kept, "block")}, stored in the last minutes. Run the command again in ten minutes.`,
            );
          const result = { from: blocks.name, removed, removed_bytes: removedBytes, kept };
          printResult(terminal, json, result, lines.join("\n"));
        } finally {
          await close();
        }
      });
    });
}
