import type { Command } from "commander";

import { collectMedia, KEPT } from "../../operator/collect-media.ts";
import { plural } from "../../shared/plural.ts";
import { announced } from "../announced.ts";
import { withMedia } from "../with-media.ts";
import { readMinutes } from "../duration.ts";
import { printResult, resultCommand, type Terminal } from "../terminal.ts";

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
      const { kept, removed, removedBytes } = await withMedia(terminal, (media) =>
        announced(media.database, () => collectMedia(media, before)),
      );
      const text = `removed: ${plural(removed, "block")} (${plural(removedBytes, "byte")})\nkept:    ${plural(kept, "block")}`;
      printResult(terminal, json, { kept, removed, removed_bytes: removedBytes }, text);
    });
}
