import { statSync } from "node:fs";
import { join, resolve } from "node:path";

import { root } from "./project.mjs";

/** What `npm start` writes into its folder: see api/config/settings-file.ts. */
const OF_START = "start.env";

/**
 * The file whose settings the service and its commands read, below the environment: that of `npm start` if DATA_DIR names its
 * folder, otherwise `.env`. Never both: `.env` may have the keys and the chain of an installation. Only the environment names
 * the folder, so that a file that `npm start` has left behind changes no installation whose folder stands in `.env`.
 * @returns a path, as people write it in this folder; null: there is none.
 * @throws Error when another user could have written the file of `npm start`: Node reads options from it, too.
 */
export function settingsFile(env, folder = root) {
  const dataDir = env.DATA_DIR?.trim() ?? "";
  const local = dataDir === "" ? null : join(dataDir, OF_START);
  const found = local === null ? undefined : statOf(resolve(folder, local));
  if (found === undefined) return statOf(resolve(folder, ".env")) === undefined ? null : ".env";
  const mine = process.getuid === undefined || [0, process.getuid()].includes(found.uid);
  if (!mine || (process.platform !== "win32" && (found.mode & 0o022) !== 0))
    throw new Error(`${local} is not used: another user can write to it. Remove it, and run \`npm start\` again.`);
  return local;
}

function statOf(path) {
  return statSync(path, { throwIfNoEntry: false });
}
