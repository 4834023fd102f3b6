import { join } from "node:path";

import { OperatorError } from "../../operate/operator-error.ts";
import { FileLockError, lockFile } from "../../store/db/sqlite/sqlite.ts";

export const LOCK = ".moneta-drop.lock";

/** Runs the work while no other process drops the same folder. @throws OperatorError when one does. */
export async function locked<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const release = take(join(folder, LOCK));
  if (release === null) {
    throw new OperatorError(`Another process drops ${folder}. Wait until it has ended, or end it.`);
  }
  try {
    return await work();
  } finally {
    release();
  }
}

function take(path: string): (() => void) | null {
  try {
    return lockFile(path);
  } catch (error) {
    if (error instanceof FileLockError) throw new OperatorError(error.message, { cause: error });
    throw error;
  }
}
