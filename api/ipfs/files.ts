import { stat } from "node:fs/promises";

export function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

/** When a file was changed or touched; Infinity for what is not there. */
export async function modifiedAt(file: string): Promise<number> {
  try {
    return (await stat(file)).mtimeMs;
  } catch (error) {
    if (isAbsent(error)) return Infinity;
    throw error;
  }
}
