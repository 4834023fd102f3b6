import type { Command } from "commander";

import { parseMediaStoreText, parseSettings } from "../config/settings.ts";
import { openBlocks } from "../content/store/open-blocks.ts";
import { collectMedia, KEPT } from "../operate/media/collect.ts";
import { moveMedia, removeOldMedia } from "../operate/media/move.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { plural } from "../shared/text.ts";
import { readMediaPlace } from "../store/media/media-store.ts";
import { announced } from "./announced.ts";
import { withDatabase } from "./database.ts";
import { readMinutes } from "./options.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";

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
        const source = openBlocks(mediaStore, { dataDir, database });
        const into = openBlocks(target, { dataDir, database });
        let printed = 0;
        const progress = (blocks: number) => {
          if (blocks < printed + STEP) return;
          printed = blocks;
          terminal.remark?.(`${plural(blocks, "block")} so far\n`);
        };
        const move = { database, source, target: into, progress };
        const { copied, copiedBytes, present } = await announced(database, () => moveMedia(move));
        const text =
          `copied:  ${plural(copied, "block")} (${plural(copiedBytes, "byte")})\npresent: ${plural(present, "block")}\n` +
          `Set MEDIA_STORE=${to} and restart all processes. When everything works, delete the old copy: media remove-old --from ${source.name}`;
        const result = { from: source.name, to: into.name, copied, copied_bytes: copiedBytes, present };
        printResult(terminal, json, result, text);
      });
    });
}

export function mediaCollect(terminal: Terminal): Command {
  return resultCommand("collect", "Delete hosted blocks that no metadata refers to (garbage collection).", {
    examples: ["media collect", "media collect --older-than 7d"],
    json: "{kept, removed, removed_bytes}",
    notes: "The service may run. Less than 10m could delete a file that is being uploaded.",
  })
    .option(
      "--older-than <duration>",
      "keep newer blocks, such as uploads that no metadata names yet (60, 30m, 12h, 7d; a number is minutes; default: 7d)",
      readMinutes,
      KEPT,
    )
    .action(async ({ json, olderThan }: { json?: boolean; olderThan: number }) => {
      const before = Date.now() - olderThan;
      const { mediaStore, dataDir } = parseSettings(terminal.env);
      const { kept, removed, removedBytes } = await withDatabase(terminal, async (database) => {
        const { store } = await readMediaPlace(database.read);
        const blocks = openBlocks(mediaStore, { dataDir, database });
        if (store !== null && store !== blocks.name)
          throw new OperatorError(
            `Hosted media are in ${store}, but MEDIA_STORE says ${blocks.name}: correct MEDIA_STORE.`,
          );
        return announced(database, () => collectMedia({ database, blocks }, before));
      });
      const text = `removed: ${plural(removed, "block")} (${plural(removedBytes, "byte")})\nkept:    ${plural(kept, "block")}`;
      printResult(terminal, json, { kept, removed, removed_bytes: removedBytes }, text);
    });
}

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
        const blocks = openBlocks(place, { dataDir, database });
        const { removed, removedBytes, kept } = await announced(database, () => removeOldMedia(database, blocks));
        const lines = [`removed: ${plural(removed, "block")} (${plural(removedBytes, "byte")})`];
        if (kept > 0)
          lines.push(
            `kept:    ${plural(kept, "block")}, stored in the last minutes. Run the command again in ten minutes.`,
          );
        printResult(
          terminal,
          json,
          { from: blocks.name, removed, removed_bytes: removedBytes, kept },
          lines.join("\n"),
        );
      });
    });
}
