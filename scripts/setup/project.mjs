import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of package.json. */
export const root = fileURLToPath(new URL("../../", import.meta.url));

export function inProject(...path) {
  return join(root, ...path);
}

/** Prints one line for the user on stderr, never on stdout. */
export function say(line) {
  process.stderr.write(`moneta: ${line}\n`);
}

export function sha256(...parts) {
  const hash = createHash("sha256");
  // The length keeps ["ab", "c"] apart from ["a", "bc"].
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest("hex");
}

/** The text of a file, or undefined when it cannot be read. */
export function textOf(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

const bin = inProject("node_modules", ".bin");
// Windows spells it `Path`.
const pathKey = Object.keys(process.env).find((key) => key.toUpperCase() === "PATH") ?? "PATH";
const machinePath = (process.env[pathKey] ?? "").split(delimiter).filter((folder) => folder !== "" && folder !== bin);

/** The environment in which `node` is the machine's, for npm: it replaces the project's Node while it works. */
export function machineEnvironment() {
  return { ...process.env, [pathKey]: machinePath.join(delimiter) };
}

/**
 * The environment in which `node` is the project's. Node keeps compiled modules there: api/shared/code-cache.ts, which does so
 * for entries that are run without this, says why in this folder.
 */
export function projectEnvironment() {
  return {
    NODE_COMPILE_CACHE: inProject("node_modules", ".cache", "moneta"),
    ...process.env,
    [pathKey]: [bin, ...machinePath].join(delimiter),
  };
}
