import type { Readable } from "node:stream";

import { Command, Option } from "commander";

import type { Environment } from "../config/settings.ts";
import { inOneLine, printable } from "../shared/text.ts";

/** The name of the command line: what a user types before a command. */
export const PROGRAM = "npm run cli --";

/** A command's environment: the settings, and the streams. */
export interface Terminal {
  env: Environment;
  /** Standard input. */
  input: Readable;
  /** Writes to standard output. */
  write(text: string): void;
  /** Writes a note to standard error. It is not part of the result. */
  remark?: (text: string) => void;
  /** Replaces the last line of standard error, when that is a terminal. */
  rewrite?: (line: string) => void;
  /** Removes the last lines of standard error, when that is a terminal. */
  erase?: (lines: number) => void;
  /** Asks the person at the terminal, and resolves with one line. Absent when nobody can answer. */
  ask?: (question: string) => Promise<string>;
  /** Makes the program end with exit code 1 although the command printed its result. */
  fail?: () => void;
}

/** The terminal of all commands: nothing that they print gives it orders, whoever wrote the text. */
export function withoutOrders(terminal: Terminal): Terminal {
  const { remark, rewrite, ask } = terminal;
  return {
    ...terminal,
    write: (text) => {
      terminal.write(printable(text));
    },
    ...(remark && {
      remark: (text: string) => {
        remark(printable(text));
      },
    }),
    ...(rewrite && {
      rewrite: (line: string) => {
        rewrite(inOneLine(line));
      },
    }),
    ...(ask && { ask: (question: string) => ask(printable(question)) }),
  };
}

/** The parts of a command's help that commander does not generate. */
interface Help {
  /** Arguments of working calls, without the program's name. */
  examples: readonly string[];
  /** The shape of what `--json` prints. */
  json: string;
  /** Sentences below the options. */
  notes?: string;
}

/** A command that ends with one result: `--json` prints it as one JSON value, otherwise it is printed as text. */
export function resultCommand(name: string, description: string, { examples, json, notes }: Help): Command {
  const parts = [
    ...(notes === undefined ? [] : [notes]),
    `JSON output: ${json}`,
    ["Example:", ...examples.map((example) => `  ${PROGRAM} ${example}`)].join("\n"),
  ];
  return new Command(name)
    .description(description)
    .addOption(new Option("--json", "print the result as one JSON value"))
    .addHelpText("after", `\n${parts.join("\n\n")}`);
}

/** Prints the result of a command in the requested form. */
export function printResult(terminal: Terminal, json: boolean | undefined, result: unknown, text: string): void {
  terminal.write(json === true ? `${JSON.stringify(result)}\n` : `${text}\n`);
}

/** Rows in aligned columns. */
export function table(head: string[], rows: string[][], whenEmpty: string): string {
  if (rows.length === 0) return whenEmpty;
  const lines = [head, ...rows.map((row) => row.map(inOneLine))];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? "").length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** An ISO 8601 time, or null. */
export function time(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}
