import { stat } from "node:fs/promises";

export function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

/** Modification time of a file in milliseconds; Infinity when it does not exist. */
export async function modifiedAt(file: string): Promise<number> {
  try {
    return (await stat(file)).mtimeMs;
  } catch (error) {
    if (isAbsent(error)) return Infinity;
    throw error;
  }
}
