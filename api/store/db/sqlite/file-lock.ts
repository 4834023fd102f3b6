import BetterSqlite3, { SqliteError } from "better-sqlite3";

/**
 * Locks a file for this process: one at a time has the lock. The system releases it when the process ends, however it ends.
 * @param file stays, empty. @returns a function that releases the lock; null when another process has it.
 */
export function lockFile(file: string): (() => void) | null {
  const connection = new BetterSqlite3(file, { timeout: 0 });
  try {
    connection.exec("begin exclusive");
  } catch (error) {
    connection.close();
    if (error instanceof SqliteError && error.code.startsWith("SQLITE_BUSY")) return null;
    throw error;
  }
  return () => {
    connection.close();
  };
}
