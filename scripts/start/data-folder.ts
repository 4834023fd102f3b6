import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";

import BetterSqlite3 from "better-sqlite3";

import { requireWritableFolder } from "../../api/shared/folder.ts";
import { codeOf } from "./problem.ts";

const DATABASE = "moneta.sqlite";
const LOCK = "start.lock";
/** SQLite's companion files. Without its `-wal` a database that was not closed lacks the last writes. */
const COMPANIONS = ["-wal", "-shm"];

/**
 * Locks the folder, so that a second `npm start` cannot use it. The operating system holds the lock, through SQLite, and
 * releases it when the process ends in any way.
 * @returns a function that releases the lock, or null when another process holds it.
 * @throws FolderError when the folder cannot be used.
 */
export function lockFolder(dataDir: string): (() => void) | null {
  requireWritableFolder(dataDir, "DATA_DIR");
  const lock = new BetterSqlite3(join(dataDir, LOCK), { timeout: 0 });
  try {
    lock.exec("begin exclusive");
  } catch (error) {
    lock.close();
    if (codeOf(error) !== "SQLITE_BUSY") throw error;
    return null;
  }
  return () => {
    lock.close();
  };
}

/** The first of `<folder>-2`, `<folder>-3`, ... that no other `npm start` uses. Creates nothing. */
export function nextFreeFolder(dataDir: string): string {
  for (let number = 2; ; number++) {
    const folder = `${dataDir}-${number}`;
    if (!existsSync(join(folder, LOCK))) return folder;
    const unlock = lockFolder(folder);
    if (unlock === null) continue;
    unlock();
    return folder;
  }
}

/**
 * Renames the database of an earlier start, because its chain was in memory and is gone. Deletes nothing.
 * @returns its new path, or null when there was none.
 */
export function setDatabaseAside(dataDir: string, now: Date): string | null {
  const database = join(dataDir, DATABASE);
  if (!existsSync(database)) return null;
  const aside = join(dataDir, `moneta.${now.toISOString().replaceAll(":", "-")}.sqlite`);
  renameSync(database, aside);
  for (const companion of COMPANIONS) {
    if (existsSync(database + companion)) renameSync(database + companion, aside + companion);
  }
  return aside;
}
