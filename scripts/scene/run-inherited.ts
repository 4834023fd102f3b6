import { spawn } from "node:child_process";
import { once } from "node:events";

import { ROOT } from "./program.ts";

/** Runs a program of Node in the folder of the project, with this process's input and output. @returns its exit code. */
export async function runInherited(args: readonly string[], env: Record<string, string> = {}): Promise<number> {
  const child = spawn(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...env }, stdio: "inherit" });
  const [code] = (await once(child, "close")) as [number | null];
  return code ?? 1;
}
