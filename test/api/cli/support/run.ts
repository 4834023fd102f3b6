import type { Command } from "commander";

import { createProgram } from "../../../../api/cli/program.ts";

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
  return runAnswering(env, null, ...words);
}

/** The same, at a terminal where somebody gives this answer to every question. @param answer null: nobody is there. */
export async function runAnswering(
  env: Record<string, string>,
  answer: string | null,
  ...words: string[]
): Promise<Ran> {
  const ran: Ran = { output: "", remarks: "", failed: false };
  const terminal = {
    env,
    write: (text: string) => {
      ran.output += text;
    },
    remark: (text: string) => {
      ran.remarks += text;
    },
    fail: () => {
      ran.failed = true;
    },
    ...(answer === null ? {} : { ask: () => Promise.resolve(answer) }),
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
