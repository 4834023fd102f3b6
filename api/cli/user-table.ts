import { createReadStream } from "node:fs";
import { buffer } from "node:stream/consumers";

import { getAddress, isAddress, ZeroAddress } from "ethers";

import { CsvProblem, parseCsv } from "../../client/drop/csv.ts";
import { MOST_TEXT } from "../../client/drop/layout.ts";
import { textOfBytes } from "../../client/drop/text.ts";
import { faultOfText, LIMITS } from "../../client/drop/values.ts";
import { hasControls, NO_CONTROLS } from "../../client/rules/storable.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { bounded } from "../shared/bounded.ts";
import { fileErrorReason } from "../shared/folder.ts";
import { plural } from "../shared/text.ts";
import type { Terminal } from "./terminal.ts";

/** Lines of a table. All rows are in memory together, with what became of each. */
const MOST_LINES = 250_000;

/** @throws OperatorError when the file cannot be read, or is too large. */
export async function textOf(file: string | undefined, { input }: Pick<Terminal, "input">): Promise<string> {
  const name = file ?? "Standard input";
  const tooLarge = (most: string) => new OperatorError(`${name} has more than ${most}. Split the table.`);
  const source = file === undefined ? input : createReadStream(file);
  const bytes = await buffer(bounded(source, MOST_TEXT.bytes, () => tooLarge("64 MiB"))).catch((error: unknown) => {
    const reason = fileErrorReason(error);
    throw reason === null ? error : new OperatorError(`${name} cannot be read: ${reason}.`);
  });
  const read = textOfBytes(bytes);
  if ("problem" in read) throw new OperatorError(`${name}: ${read.problem}`);
  const lineBreak = /\r\n?|\n/g;
  for (let lines = 0; lineBreak.test(read.text); lines++) if (lines >= MOST_LINES) throw tooLarge("250,000 lines");
  return read.text;
}

/** A row of a table: its cells by the names of their columns. */
export interface TableRow {
  line: number;
  cells: Readonly<Record<string, string>>;
  /** What is wrong with its shape; null: nothing. */
  fault: string | null;
}

/**
 * Reads a table (CSV).
 * @param columns that it has when its first line does not name them. @param known further columns. A first line that has one of these
 * names after its first cell names all columns.
 * @throws OperatorError when the text is not a table, or names its columns without the first of `columns`.
 */
export function tableRows(text: string, columns: readonly [string, string], known: readonly string[] = []): TableRow[] {
  const [head, ...lines] = parsed(text);
  const simple = (name: string) => name.toLowerCase().replaceAll(/[\s_-]/g, "");
  const all = [...columns, ...known];
  const names = head?.cells.map((name) => all.find((one) => simple(one) === simple(name)) ?? "") ?? [];
  const isNamed = names.slice(1).some((name) => name !== "");
  // Without it, other columns would be taken for it.
  if (isNamed && !names.includes(columns[0])) throw new OperatorError(`The table has no column ${columns[0]}: add it.`);
  const used = isNamed ? names : columns;
  return (isNamed || head === undefined ? lines : [head, ...lines]).map(({ line, cells }) => ({
    line,
    cells: Object.fromEntries(used.map((name, index) => [name, cells[index] ?? ""])),
    fault:
      cells.length === used.length
        ? null
        : `The row has ${plural(cells.length, "cell")} in place of ${used.length.toString()}.`,
  }));
}

function parsed(text: string): ReturnType<typeof parseCsv> {
  try {
    return parseCsv(text);
  } catch (error) {
    throw error instanceof CsvProblem ? new OperatorError(`Line ${error.line.toString()}: ${error.message}`) : error;
  }
}

/** By the rules of `POST /v1/accounts`. @returns what is wrong; null: nothing. */
export function faultOfUser(user: string): string | null {
  const wrong = /^\.{0,2}$/.test(user) ? "Must not be empty, `.` or `..`." : hasControls(user) ? NO_CONTROLS : null;
  const fault = wrong ?? faultOfText(user, LIMITS.userIdentifier);
  return fault === null ? null : `user_identifier: ${fault}`;
}

/** @returns it in EIP-55 form; null when it is not an address that can have a wallet. */
export function walletAddress(text: string): string | null {
  return /^0x/.test(text) && isAddress(text) && text !== ZeroAddress ? getAddress(text) : null;
}

export const NOT_AN_ADDRESS =
  "address: Must be 0x and 40 hex digits, with the right checksum or in lower case, and not the zero address.";
