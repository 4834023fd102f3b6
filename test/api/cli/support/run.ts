import { Readable } from "node:stream";

import type { Command } from "commander";

import { createProgram } from "../../../../api/cli/program.ts";
import type { Terminal } from "../../../../api/cli/terminal.ts";

export interface Ran {
  /** Standard output. */
  output: string;
  /** Standard error. */
  remarks: string;
  /** Whether the program would end with exit code 1 although the command printed its result. */
  failed: boolean;
}

/** Runs the command line in this process. @throws what the command throws. */
export function runCli(env: Record<string, string>, ...words: string[]): Promise<Ran> {
  return run(env, words, {});
}

/** The same, with this text as standard input. */
export function runWithInput(env: Record<string, string>, input: string, ...words: string[]): Promise<Ran> {
  return run(env, words, { input: Readable.from([Buffer.from(input)]) });
}

/** The same, at a terminal where somebody gives this answer to every question. */
export function runAnswering(env: Record<string, string>, answer: string, ...words: string[]): Promise<Ran> {
  return run(env, words, { ask: () => Promise.resolve(answer) });
}

async function run(
  env: Record<string, string>,
  words: readonly string[],
  given: Partial<Pick<Terminal, "input" | "ask">>,
): Promise<Ran> {
  const ran: Ran = { output: "", remarks: "", failed: false };
  const terminal = {
    ...{ env, input: Readable.from([]), ...given },
    write: (text: string) => {
      ran.output += text;
    },
    remark: (text: string) => {
      ran.remarks += text;
    },
    fail: () => {
      ran.failed = true;
    },
  };
  const program = await createProgram(terminal, words);
  quiet(program, terminal.write);
  await program.parseAsync(words, { from: "user" });
  return ran;
}

/** The JSON value that a command prints with `--json`. */
export async function jsonOfCli<T>(env: Record<string, string>, ...words: string[]): Promise<T> {
  return JSON.parse((await runCli(env, ...words, "--json")).output) as T;
}

/** Makes commander throw instead of ending the process, and print only help, to `write`. */
export function quiet(command: Command, write: (text: string) => void): void {
  command.exitOverride().configureOutput({ writeErr: () => undefined, writeOut: write });
  for (const child of command.commands) quiet(child, write);
}
