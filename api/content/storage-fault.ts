import { BlockStoreUnavailable } from "./block-store.ts";

/** Whether the service could not store or read blocks: its disk or its media store is at fault, not the content. */
export function isStorageFault(error: unknown): boolean {
  return error instanceof BlockStoreUnavailable || isSystemError(error);
}

/** The same fault has the same key, whatever file it names. */
export function storageFaultKey(error: unknown): string {
  if (isSystemError(error)) return error.code ?? error.message;
  return error instanceof Error ? error.message : String(error);
}

/** An error of the operating system, such as ENOSPC, EIO, EACCES or EROFS. Errors of downloads are `MediaError`s. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "errno" in error && "syscall" in error;
}
