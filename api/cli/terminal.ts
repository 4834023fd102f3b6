import { Command, Option } from "commander";

import { type Environment, parseDatabaseSettings } from "../config/settings.ts";
import { type Database, openDatabase } from "../store/db/database.ts";

/** What a command works with: the settings' source, and where its result goes. */
export interface Terminal {
  env: Environment;
  /** Writes to standard output. */
  write(text: string): void;
  /** Lets the program end with exit code 1, although the command did its work. */
  fail?: () => void;
}

/** A command that ends with one result: `--json` prints it as one JSON value, otherwise `words` say it. */
export function resultCommand(name: string, description: string): Command {
  return new Command(name).description(description).addOption(new Option("--json", "print one JSON value"));
}

/** Prints the result of a command in the form that was asked for. */
export function printResult(terminal: Terminal, json: boolean | undefined, result: unknown, words: string): void {
  terminal.write(json === true ? `${JSON.stringify(result)}\n` : `${words}\n`);
}

/** Opens the database of the settings for one piece of work. The service may be running: both take turns. */
export async function withDatabase<T>(terminal: Terminal, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase(parseDatabaseSettings(terminal.env).databaseUrl);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Rows in columns, as wide as they need to be. */
export function table(head: string[], rows: string[][], whenEmpty: string): string {
  if (rows.length === 0) return whenEmpty;
  const lines = [head, ...rows];
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

export function time(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}
