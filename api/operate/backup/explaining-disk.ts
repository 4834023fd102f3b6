import { isDamage } from "../../content/content.ts";
import { fileErrorReason, FolderError } from "../../shared/folder.ts";
import { OperatorError } from "../operator-error.ts";

/** Explains the errors of files and disks. @param result what the operator must know about the command as a whole. */
export async function explainingDisk<T>(result: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FolderError || error instanceof OperatorError || !(error instanceof Error)) throw error;
    // A block that was just written, and read back.
    const reason = isDamage(error)
      ? `the disk returns other bytes than were written (${error.message})`
      : fileErrorReason(error);
    if (reason === null) throw error;
    const place = "path" in error ? ` (${String(error.path)})` : "";
    throw new OperatorError(`${result}: ${reason}${place}.`, { cause: error });
  }
}
