import type { Command } from "commander";

import { describeSettings } from "../config/describe-settings.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";

/** The table of the README comes from here. */
export function settings(terminal: Terminal): Command {
  return resultCommand("settings", "List every setting as a Markdown table: name, default, meaning.")
    .addHelpText("after", "\nJSON: [{variable, fallback, description}]")
    .action(({ json }: { json?: boolean }) => {
      const all = describeSettings();
      const rows = all.map(
        ({ variable, fallback, description }) => `| \`${variable}\` | ${fallback} | ${description} |`,
      );
      printResult(terminal, json, all, ["| Setting | Default | Meaning |", "|---|---|---|", ...rows].join("\n"));
    });
}
