import type { Command } from "commander";

import { GROUPS, type Variable } from "../config/variables.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";

export function settings(terminal: Terminal): Command {
  return resultCommand("settings", "List every setting with its default and meaning.", {
    examples: ["settings"],
    json: "[{group, variable, fallback, description}]",
    notes: "Set them in the environment or in .env.",
  }).action(({ json }: { json?: boolean }) => {
    const all = describeSettings();
    const text = Object.keys(GROUPS).flatMap((name) => [
      `\n${name.toUpperCase()}`,
      ...all
        .filter(({ group }) => group === name)
        .map(({ variable, fallback, description }) =>
          `${variable}  (default: ${fallback})\n    ${description}`.replaceAll("`", ""),
        ),
    ]);
    printResult(terminal, json, all, text.join("\n").trim());
  });
}

export interface SettingDescription {
  /** The heading under which the documentation has it. */
  group: string;
  variable: string;
  /** The default as Markdown, or `none`. */
  fallback: string;
  description: string;
}

/** The settings that a first installation needs. README.md shows these, docs/settings.md shows all. */
export const FIRST_SETTINGS = [
  "PORT",
  "HOST",
  "PUBLIC_URL",
  "RPC_URL",
  "DATA_DIR",
  "DATABASE_URL",
  "SEED_FILE",
  "SEED_PASSPHRASE",
  "SECRET_KEYS",
  "LANES",
] as const satisfies Variable[];

/** Every setting, in the order of docs/settings.md. */
export function describeSettings(): SettingDescription[] {
  const groups: [string, Record<string, { fallback: string; description: string }>][] = Object.entries(GROUPS);
  return groups.flatMap(([group, settings]) =>
    Object.entries(settings).map(([variable, { fallback, description }]) => ({
      group,
      variable,
      fallback: fallback.startsWith("`") || fallback === "none" ? fallback : `\`${fallback}\``,
      description,
    })),
  );
}
