import { readFile, realpath, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";

/** Thrown with a sentence for the user when a file cannot be used. */
export class FileProblem extends Error {
  override readonly name = "FileProblem";
}

/**
 * Metadata from others must not publish files of this machine, also not through a link.
 * @param folder its real path. @param path its real path. @returns the path relative to the folder, or null when it is outside.
 */
export function insideOf(folder: string, path: string): string | null {
  const file = relative(folder, path);
  return file.startsWith(`..${sep}`) || file === ".." ? null : file;
}

/** Reads a text of the folder. @param folder its real path. @throws FileProblem */
export async function readTextInside(folder: string, file: string): Promise<string> {
  const path = await realpath(join(folder, file)).catch(() => null);
  if (path === null) throw new FileProblem("The file is a link that leads nowhere.");
  if (insideOf(folder, path) === null) {
    throw new FileProblem("The file is outside of the folder. Move it into the folder.");
  }
  // Reading a pipe would wait for ever.
  if (!(await stat(path)).isFile()) throw new FileProblem("This is not a file.");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(path));
  } catch (error) {
    if (error instanceof TypeError) throw new FileProblem("The file is not text in UTF-8.");
    throw error;
  }
}
