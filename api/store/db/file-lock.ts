import { lstatSync } from "node:fs";

import BetterSqlite3 from "better-sqlite3";

/** Thrown when the file cannot be a lock. */
export class FileLockError extends Error {
  override readonly name = "FileLockError";
}

/**
 * Takes a lock that the operating system releases when the process ends, in whatever way. The file stays empty and is never
 * removed: a process that removed it could let two others in.
 * @returns what releases it, or null when another process holds it. @throws FileLockError
 */
export function lockFile(path: string): (() => void) | null {
  refuseOtherFile(path);
  let connection: BetterSqlite3.Database | null = null;
  try {
    connection = new BetterSqlite3(path, { timeout: 0 });
    connection.exec("begin exclusive");
  } catch (error) {
    connection?.close();
    if (!(error instanceof BetterSqlite3.SqliteError)) throw error;
    if (error.code.startsWith("SQLITE_BUSY")) return null;
    throw new FileLockError(`Cannot lock ${path}: ${error.message} (${error.code}).`, { cause: error });
  }
  const held = connection;
  return () => {
    held.close();
  };
}

/** A folder from others may have a link, or a database, in place of the lock. */
function refuseOtherFile(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || (found.isFile() && found.size === 0)) return;
  throw new FileLockError(`${path} is not an empty file, so it cannot be a lock. Delete it and run the command again.`);
}
