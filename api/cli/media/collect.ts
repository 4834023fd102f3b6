import { join } from "node:path";

import type { Command } from "commander";

import { collectMedia } from "../../operator/collect-media.ts";
import { OperatorError } from "../../operator/operator-error.ts";
import { parseSettings } from "../../config/settings.ts";
import { BlockFiles } from "../../ipfs/block-files.ts";
import { printResult, resultCommand, type Terminal, withDatabase } from "../terminal.ts";

export function mediaCollect(terminal: Terminal): Command {
  return resultCommand("collect", "Remove hosted blocks that no metadata refers to any more.")
    .option("--older-than <minutes>", "leave blocks that were stored more recently than this", "60")
    .addHelpText("after", "\nMay run beside the service. JSON: {kept, removed, removed_bytes}")
    .action(async ({ json, olderThan }: { json?: boolean; olderThan: string }) => {
      if (!/^\d{1,9}$/.test(olderThan)) throw new OperatorError("--older-than takes a whole number of minutes.");
      const blocks = new BlockFiles(join(parseSettings(terminal.env).dataDir, "blocks"));
      const before = Date.now() - Number(olderThan) * 60_000;
      const { kept, removed, removedBytes } = await withDatabase(terminal, (database) =>
        collectMedia({ database, blocks }, before),
      );
      const words = `Removed ${removed.toString()} blocks (${removedBytes.toString()} bytes); ${kept.toString()} stay.`;
      printResult(terminal, json, { kept, removed, removed_bytes: removedBytes }, words);
    });
}
