import { chmodSync, existsSync, readFileSync, statSync } from "node:fs";
import { parseEnv } from "node:util";

import { settingsLine } from "../../config/settings-file.ts";
import type { Environment } from "../../config/settings.ts";
import { GROUPS, type Variable } from "../../config/variables.ts";
import { OperatorError } from "../../operate/operator-error.ts";
import { replaceFile } from "../../shared/write-new-file.ts";

/** Bytes of the largest file that is read. */
const MAX_FILE = 1024 * 1024;
/** A line of comments: at most 100 characters, or one longer word. */
const WRAPPED = /(.{1,100}|\S+)(?: |$)/g;

const HEAD = `# Settings of this installation of Moneta, written by \`npm run cli -- init\`. \`npm run api\` and \`npm run cli\` read them here.
# docs/settings.md explains every setting. Keep this file private: it has the keys that encrypt the database.
`;

/** A file with settings, as `.env`. */
export interface SettingsFile {
  path: string;
  /** Empty when there is no file. */
  text: string;
  values: Environment;
}

/** @throws OperatorError */
export function readSettingsFile(path: string): SettingsFile {
  if (!existsSync(path)) return { path, text: "", values: {} };
  const found = statSync(path);
  if (!found.isFile() || found.size > MAX_FILE)
    throw new OperatorError(`${path} is not a file with settings. Name another file: --settings-file <file>`);
  const text = readFileSync(path, "utf8");
  return { path, text, values: parseEnv(text) };
}

/**
 * Adds the settings that the file does not have, in the groups of the documentation, each with its meaning. What it has stays as it is. Nobody else can read the file.
 * @throws OperatorError when the file has another value.
 */
export async function writeSettings(
  file: SettingsFile,
  wanted: ReadonlyMap<Variable, string | undefined>,
): Promise<Variable[]> {
  const added: Variable[] = [];
  let text = file.text === "" ? HEAD : `${file.text.trimEnd()}\n`;
  const groups: [string, Record<string, { description: string }>][] = Object.entries(GROUPS);
  for (const [group, variables] of groups) {
    let heading = `\n# ${group}\n# ${"-".repeat(group.length)}\n`;
    for (const [name, { description }] of Object.entries(variables)) {
      const variable = name as Variable;
      const [value, present = ""] = [wanted.get(variable), file.values[variable]];
      if (value === undefined || present === value) continue;
      // The values are not printed: some of them are secret.
      if (present !== "")
        throw new OperatorError(
          `${file.path} has another ${variable} than the one to use now. Change it there, or remove that line, and run this again.`,
        );
      text += `${heading}\n${comment(description)}\n${lineOf(variable, value)}\n`;
      heading = "";
      added.push(variable);
    }
  }
  if (added.length > 0) await replaceFile(file.path, text, 0o600);
  else if ((statSync(file.path).mode & 0o077) !== 0) chmodSync(file.path, 0o600);
  return added;
}

function lineOf(variable: string, value: string): string {
  const line = settingsLine(variable, value);
  if (line === null) throw new OperatorError(`${variable} has characters that a file with settings cannot hold.`);
  return line;
}

function comment(description: string): string {
  const lines = description.replaceAll("`", "").matchAll(WRAPPED);
  return [...lines].map(([, line]) => `# ${line ?? ""}`).join("\n");
}
