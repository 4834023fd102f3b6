import { randomUUID } from "node:crypto";
import { link, open, rename, unlink, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

import { makeFolder } from "./folder.ts";

/**
 * Writes a secret file that only its owner can read. The content is on disk before the file gets its name, so nobody
 * sees a part of it.
 * @returns false when the file already exists. It is not changed.
 */
export async function writeNewFile(file: string, content: string): Promise<boolean> {
  makeFolder(dirname(file));
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, content, { flag: "wx", mode: 0o600, flush: true });
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

/**
 * Replaces a file, or creates it. A reader sees the old content or the new, never a part, also after a crash or on a full disk.
 * Only one process at a time may do this. @param mode permissions of the new file.
 */
export async function replaceFile(file: string, content: string | Uint8Array, mode: number): Promise<void> {
  const draft = `${file}.new`;
  await writeFile(draft, content, { mode, flush: true });
  await rename(draft, file);
  await syncFolder(dirname(file));
}

/** Flushes the folder to disk. Otherwise a power cut may lose the name of the new file. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open folders and does not need this.
  if (process.platform !== "win32") await sync(folder, "r");
}

/** Flushes the content of a file to disk. */
export function syncFile(file: string): Promise<void> {
  return sync(file, "r+");
}

async function sync(path: string, flags: "r" | "r+"): Promise<void> {
  const handle = await open(path, flags);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
