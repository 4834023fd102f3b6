import type { Command } from "commander";

import { LIMIT_SETTINGS } from "../config/limits.ts";
import { type Variable, VARIABLES } from "../config/variables.ts";
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

export interface SettingDescription {
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
  const plain = Object.entries(VARIABLES).map(([variable, { fallback, description }]) => ({
    variable,
    fallback: fallback.startsWith("`") || fallback === "none" ? fallback : `\`${fallback}\``,
    description,
  }));
  const limits = Object.values(LIMIT_SETTINGS).map((limit) => ({
    variable: limit.variable,
    fallback: `\`${limit.default.toString()}\``,
    description: limit.description,
  }));
  return [...plain, ...limits];
}
