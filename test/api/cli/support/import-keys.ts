import { once } from "node:events";
import { text } from "node:stream/consumers";
import { spawn } from "node:child_process";

import { runWithInput } from "./run.ts";

/** What `wallets import --json` prints. */
export interface Imported {
  app_id: string;
  added: number;
  completed: number;
  already_there: number;
  refused: number;
  rows: {
    line: number;
    user_identifier: string | null;
    address: string | null;
    delegate: string | null;
    result: string;
    message: string | null;
  }[];
}

interface Ran {
  output: string;
  errors: string;
  code: number | null;
}

/** The command in a process of its own. */
export function startImport(env: Record<string, string>, input: string, ...words: string[]) {
  return start(env, input, "wallets", "import", ...words);
}

function start(env: Record<string, string>, input: string, ...words: string[]) {
  const child = spawn(process.execPath, ["api/cli/main.ts", ...words], { env: { ...process.env, ...env } });
  child.stdin.end(input);
  return child;
}

export function runImport(env: Record<string, string>, input: string, ...words: string[]): Promise<Ran> {
  return runProgram(env, input, "wallets", "import", ...words);
}

/** Runs the command line in a process of its own. @param input its standard input. */
export async function runProgram(env: Record<string, string>, input: string, ...words: string[]): Promise<Ran> {
  const child = start(env, input, ...words);
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { output, errors, code: child.exitCode };
}

/** @param rows lines of standard input. */
export async function importKeys(
  env: Record<string, string>,
  app: string,
  rows: readonly string[],
  ...options: string[]
): Promise<Imported> {
  const words = ["wallets", "import", "--app", app, "--json", ...options];
  return JSON.parse((await runWithInput(env, rows.join("\n"), ...words)).output) as Imported;
}
