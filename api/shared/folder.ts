import { existsSync, mkdirSync, mkdtempSync, rmdirSync, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

/** Bytes of the disk that has a folder. */
export interface DiskSpace {
  used: number;
  /** What this user can still write. */
  free: number;
}

export async function readDisk(folder: string): Promise<DiskSpace> {
  const { bsize, blocks, bfree, bavail } = await statfs(folder);
  return { used: (blocks - bfree) * bsize, free: bavail * bsize };
}

/** Why the operating system refused a file or folder, by error code. */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: "this user has no permission",
  EPERM: "this user has no permission",
  EROFS: "the file system is read-only",
  ENOENT: "it does not exist and cannot be created there",
  ENOTDIR: "part of the path is a file, not a folder",
  EEXIST: "a file of that name exists",
  EISDIR: "it is a folder, not a file",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file would be larger than this user may write",
  EIO: "the disk reports an error",
};

/** Thrown when a folder cannot be used. The message says why, and which setting to change. */
export class FolderError extends Error {
  override readonly name = "FolderError";
}

/** Whether a file or folder does not exist. */
export function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

/** What `access` to a file or folder gives; `otherwise` when it does not exist. */
export function unlessAbsent<T, U>(access: Promise<T>, otherwise: U): Promise<T | U> {
  return access.catch((error: unknown) => {
    if (isAbsent(error)) return otherwise;
    throw error;
  });
}

/** @returns the reason as text, or null when the error does not come from the file system. */
export function fileErrorReason(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return null;
  const reason = REASONS[error.code];
  return reason === undefined ? null : `${reason} (${error.code})`;
}

/** @returns a sentence that names the path and the reason, or null when the error does not come from the file system. */
export function explainFileError(error: unknown): string | null {
  const reason = fileErrorReason(error);
  if (reason === null || !(error instanceof Error) || !("path" in error)) return null;
  return `Cannot use ${String(error.path)}: ${reason}.`;
}

/**
 * Creates a folder and its parents, for this user only (0700).
 * Not `mkdir` with `recursive`: Node then retries for ever where the system answers ENOENT, as it does under /proc.
 */
export function makeFolder(path: string): void {
  const missing: string[] = [];
  for (let at = resolve(path); !existsSync(at); at = dirname(at)) missing.unshift(at);
  for (const folder of missing) {
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
      // Another process may have created it in the meantime.
      if (!isFolder(folder)) throw error;
    }
  }
}

/**
 * Creates the folder if needed and writes to it, to find a wrong path before anything starts.
 * @param setting the variable that holds the path.
 * @throws FolderError
 */
export function requireWritableFolder(path: string, setting: string): void {
  const fail = (reason: string, cause?: unknown) =>
    new FolderError(
      `${setting}: cannot write to the folder ${path}: ${reason}. Set ${setting} to a folder that this user may write to.`,
      { cause },
    );
  try {
    makeFolder(path);
    if (!isFolder(path)) throw fail("it is a file, not a folder");
    rmdirSync(mkdtempSync(join(path, ".write-test-")));
  } catch (error) {
    const reason = fileErrorReason(error);
    throw reason === null ? error : fail(reason, error);
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
