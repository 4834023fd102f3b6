import { existsSync } from "node:fs";
import { open, readdir, realpath, unlink } from "node:fs/promises";
import { join, relative, resolve } from "node:path";

import type { Settings } from "../config/settings.ts";
import { makeFolder } from "../shared/folder.ts";
import { syncFolder } from "../shared/write-new-file.ts";
import { OperatorError } from "./operator-error.ts";

/** In a folder that is not complete. It keeps a second command out. */
const UNFINISHED = "UNFINISHED";

/** Creates the folder if needed. @throws OperatorError when it is not empty, or would be lost together with the data. */
export async function makeNewFolder(
  folder: string,
  { dataDir }: Pick<Settings, "dataDir">,
  what: "backup" | "export",
): Promise<string> {
  makeFolder(folder);
  const data = existsSync(dataDir) ? await realpath(dataDir) : resolve(dataDir);
  const path = relative(data, await realpath(folder));
  if (!path.startsWith("..") && resolve(data, path) !== path) {
    throw new OperatorError(
      `${folder} is inside DATA_DIR (${data}): the ${what} would be lost together with the data. Choose a folder elsewhere, ` +
        "on another disk if possible.",
    );
  }
  const present = await readdir(folder);
  if (present.length > 0) {
    const why = present.includes(UNFINISHED)
      ? `${what === "backup" ? "a backup" : "an export"} into it has not ended, or was interrupted`
      : `it has ${present.slice(0, 3).join(", ")}`;
    throw new OperatorError(`${folder} is not empty: ${why}. Use a new folder for each ${what}.`);
  }
  const mark = await open(join(folder, UNFINISHED), "wx", 0o600);
  await mark.close();
  return folder;
}

/** Everything in the folder is complete, and on disk. */
export async function endNewFolder(folder: string): Promise<void> {
  await unlink(join(folder, UNFINISHED));
  await syncFolder(folder);
}
