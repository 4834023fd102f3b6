import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

/** A step of the rehearsal, and what it showed. */
export interface Finding {
  what: string;
  /** What was seen; null: it could not be tried here. */
  result: string | null;
}

/** System programs are often in folders that only the path of root has. */
const FOLDERS = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"];

/** The path of a program; null: it is not installed. */
export function programAt(name: string): string | null {
  for (const folder of FOLDERS) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // The next folder may have it.
    }
  }
  return null;
}

export function notInstalled(what: string, program: string, debianPackage: string): Finding {
  return { what: `${what} (needs ${program}: Debian's package ${debianPackage})`, result: null };
}

/** Runs a program to its end. @returns what it printed. @throws with its output when it fails. */
export async function output(program: string, args: string[], cwd?: string): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(program, args, { cwd });
  return `${stdout}${stderr}`.trim();
}

/** @throws when what was seen is not what the documents say. */
export function require(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Error(otherwise);
}
