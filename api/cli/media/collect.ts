import type { Command } from "commander";

import { collectMedia } from "../../operator/collect-media.ts";
import { plural } from "../../shared/plural.ts";
import { withMedia } from "../with-media.ts";
import { readMinutes } from "../duration.ts";
import { printResult, resultCommand, type Terminal } from "../terminal.ts";

export function mediaCollect(terminal: Terminal): Command {
  return resultCommand("collect", "Delete hosted blocks that no metadata refers to (garbage collection).", {
    examples: ["media collect", "media collect --older-than 7d"],
    json: "{kept, removed, removed_bytes}",
    notes: "The service may run.",
  })
    .option(
      "--older-than <duration>",
      "keep newer blocks (60, 30m, 12h, 7d; a number is minutes)",
      readMinutes,
      3_600_000,
    )
    .action(async ({ json, olderThan }: { json?: boolean; olderThan: number }) => {
      const before = Date.now() - olderThan;
      const { kept, removed, removedBytes } = await withMedia(terminal, (media) => collectMedia(media, before));
      const text = `removed: ${plural(removed, "block")} (${plural(removedBytes, "byte")})\nkept:    ${plural(kept, "block")}`;
      printResult(terminal, json, { kept, removed, removed_bytes: removedBytes }, text);
    });
}
