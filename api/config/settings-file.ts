import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";

import type { Environment } from "./settings.ts";

/** The file in which `npm start` keeps the settings of its service. scripts/setup/run.mjs says when it is read. */
export function startFile(dataDir: string): string {
  return join(dataDir, "start.env");
}

/** The file with settings that this process has read beside the environment; null: none. `scripts/setup/run.mjs` sets it. */
export function settingsFileOf(env: Environment): string | null {
  return env["MONETA_SETTINGS_FILE"] ?? null;
}

/** A line of a file with settings; null: no line can have the value. */
export function settingsLine(variable: string, value: string): string | null {
  if (/[\r\n]/.test(value)) return null;
  // Without quotation marks where possible: other programs that read such files do not remove them.
  const text = [value, `'${value}'`, `"${value}"`].find((each) => parseEnv(`X=${each}\n`)["X"] === value);
  return text === undefined ? null : `${variable}=${text}`;
}

/** The variables that the file with settings and the environment set to different values. The environment takes precedence. */
export function overriddenVariables(env: Environment): string[] {
  const file = settingsFileOf(env);
  if (file === null) return [];
  const values = Object.entries(parseEnv(readFileSync(file, "utf8")));
  return values.flatMap(([variable, value]) => (env[variable] === value ? [] : [variable]));
}
