import type { Command } from "commander";

import { openBlocks } from "../../blocks/open-blocks.ts";
import { parseMediaStoreText, parseSettings } from "../../config/settings.ts";
import { moveMedia } from "../../operator/move-media.ts";
import { plural } from "../../shared/plural.ts";
import { announced } from "../announced.ts";
import { withDatabase } from "../database.ts";
import { printResult, resultCommand, type Terminal } from "../terminal.ts";

/** Blocks after which the progress is printed again. */
const STEP = 1_000;

export function mediaMove(terminal: Terminal): Command {
  return resultCommand("move", "Copy all hosted media to another place, and use it from then on.", {
    examples: ["media move --to database", "media move --to s3://my-bucket/media"],
    json: "{from, to, copied, copied_bytes, present}",
    notes:
      "MEDIA_STORE names the present place; its copy stays as it is. Every block is read back and its hash is checked.\n" +
      "After an interruption, run it again. At the end, set MEDIA_STORE to the new place and restart all processes.\n" +
      "The service may run. Until they are restarted, its processes finish no requests that copy media.",
  })
    .requiredOption("--to <place>", "files, database or s3://<bucket>/<prefix>, as in MEDIA_STORE")
    .action(async ({ json, to }: { json?: boolean; to: string }) => {
      const { mediaStore, dataDir } = parseSettings(terminal.env);
      const target = parseMediaStoreText(terminal.env, to);
      await withDatabase(terminal, async (database) => {
        const from = openBlocks(mediaStore, { dataDir, database });
        const into = openBlocks(target, { dataDir, database });
        let printed = 0;
        const progress = (blocks: number) => {
          if (blocks < printed + STEP) return;
          printed = blocks;
          terminal.remark?.(`${plural(blocks, "block")} so far\n`);
        };
        try {
          const moved = await announced(database, () =>
            moveMedia({ database, source: from.blocks, target: into.blocks, progress }),
          );
          const text =
            `copied:  ${plural(moved.copied, "block")} (${plural(moved.copiedBytes, "byte")})\npresent: ${plural(moved.present, "block")}\n` +
            `Set MEDIA_STORE=${to} and restart all processes. When everything works, delete the old copy: media remove-old --from ${from.blocks.name}`;
          const { copied, copiedBytes, present } = moved;
          const result = { from: from.blocks.name, to: into.blocks.name, copied, copied_bytes: copiedBytes, present };
          printResult(terminal, json, result, text);
        } finally {
          await from.close();
          await into.close();
        }
      });
    });
}
