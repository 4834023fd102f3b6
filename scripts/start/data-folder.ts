import { existsSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";

import BetterSqlite3 from "better-sqlite3";

import { codeOf, Problem } from "./problem.ts";

const DATABASE = "moneta.sqlite";
/** SQLite's companions: without its `-wal` a database that was not closed properly lacks what was last written. */
const COMPANIONS = ["-wal", "-shm"];

/**
 * Keeps a second `npm start` out of the folder. The lock is one of the operating system, taken through SQLite: it ends with
 * the process, however that ends.
 * @returns what gives the folder free.
 * @throws Problem
 */
export function lockFolder(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true });
  const lock = new BetterSqlite3(join(dataDir, "start.lock"), { timeout: 0 });
  try {
    lock.exec("begin exclusive");
  } catch (error) {
    lock.close();
    if (codeOf(error) !== "SQLITE_BUSY") throw error;
    throw new Problem(
      `Another \`npm start\` uses the folder ${dataDir}. Choose another with DATA_DIR, for example: DATA_DIR=${dataDir}-2 npm start`,
    );
  }
  return () => {
    lock.close();
  };
}

/**
 * The chain of `npm start` lives in memory, so a database of an earlier start belongs to a chain that is gone.
 * It is renamed, never deleted.
 * @returns where it is now, or null when there was none.
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
