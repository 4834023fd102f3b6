import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";

import { DropStopped } from "./stopped.ts";

/** An empty file. Version 0.3.0 locks the same file in the same way, so both versions exclude each other. */
export const LOCK = ".moneta-drop.lock";

/**
 * Runs the work while no other process drops the same folder. It is a lock of SQLite, because Node has no
 * locks of files: the operating system releases it when the process ends, also after `kill -9`.
 * @throws DropStopped
 */
export async function locked<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const path = join(folder, LOCK);
  await refuseOtherFile(path);
  const sqlite = await import("node:sqlite").catch((error: unknown) => {
    throw new DropStopped("A drop needs Node 22.13 or newer: it locks its folder with node:sqlite.", { cause: error });
  });
  let lock: DatabaseSync | null = null;
  try {
    try {
      lock = new sqlite.DatabaseSync(path);
      lock.exec("pragma busy_timeout = 0; begin exclusive");
    } catch (error) {
      throw (error as { errcode?: number }).errcode === SQLITE_BUSY
        ? new DropStopped(`Another process drops ${folder}. Wait until it has ended, or end it.`)
        : new DropStopped(`Cannot lock ${path}: ${String(error)}.`, { cause: error });
    }
    return await work();
  } finally {
    lock?.close();
  }
}

const SQLITE_BUSY = 5;

/** A folder from others may have a link, or a database, in place of the lock. */
async function refuseOtherFile(path: string): Promise<void> {
  const found = await lstat(path).catch((error: unknown) => {
    if ((error as { code?: string }).code === "ENOENT") return null;
    throw error;
  });
  if (found === null || (found.isFile() && found.size === 0)) return;
  throw new DropStopped(`${path} is not an empty file, so it cannot be a lock. Delete it and run the command again.`);
}
