import { randomUUID } from "node:crypto";
import { link, open, unlink } from "node:fs/promises";
import { dirname } from "node:path";

import { makeFolder } from "./folder.ts";

/**
 * Writes a secret file, readable by its owner only: all of it or none of it, on disk before it has its name.
 * @returns false when there is a file of that name already; it stays as it is.
 */
export async function writeNewFile(file: string, content: string): Promise<boolean> {
  makeFolder(dirname(file));
  const draft = `${file}.${randomUUID()}`;
  const handle = await open(draft, "wx", 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    await link(draft, file);
    await syncFolder(dirname(file));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await unlink(draft);
  }
}

/** A name in a folder survives a power cut only once the folder itself is on disk. */
async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open folders, and needs no sync of them.
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
