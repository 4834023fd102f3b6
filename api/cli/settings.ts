import type { Command } from "commander";

import { describeSettings } from "../config/describe-settings.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";

export function settings(terminal: Terminal): Command {
  return resultCommand("settings", "List every setting with its default and meaning.", {
    examples: ["settings"],
    json: "[{variable, fallback, description}]",
    notes: "Set them in the environment or in .env.",
  }).action(({ json }: { json?: boolean }) => {
    const all = describeSettings();
    const text = all.map(
      ({ variable, fallback, description }) =>
        `${variable}  (default: ${fallback.replaceAll("`", "")})\n    ${description.replaceAll("`", "")}`,
    );
    printResult(terminal, json, all, text.join("\n"));
  });
}
