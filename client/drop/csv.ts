/** A line of a table. */
interface CsvLine {
  /** Where it begins in the file, counted from 1. */
  line: number;
  /** Where it ends: a cell may have line breaks. */
  end: number;
  cells: string[];
}

/** The text is not a table. */
export class CsvProblem extends Error {
  override readonly name = "CsvProblem";
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

const BYTE_ORDER_MARK = /^\uFEFF/;
/** Spreadsheets write this line before the table, and hide it. */
const SEPARATOR = /^sep=([,;\t])(?:\r\n|\r|\n)/i;
type Delimiter = "," | ";" | "\t";

/** A quoted cell, with the space around it; or the text up to the next delimiter or end of line. */
const CELLS: Record<Delimiter, RegExp> = {
  ",": /[^\S\r\n]*"((?:[^"]|"")*)"[^\S\r\n]*(?=[,\r\n]|$)|([^,\r\n]*)/y,
  ";": /[^\S\r\n]*"((?:[^"]|"")*)"[^\S\r\n]*(?=[;\r\n]|$)|([^;\r\n]*)/y,
  "\t": /[^\S\r\n\t]*"((?:[^"]|"")*)"[^\S\r\n\t]*(?=[\t\r\n]|$)|([^\t\r\n]*)/y,
};

/**
 * Reads a table (RFC 4180, with commas, semicolons or tabs as the first line has them). Space around cells is removed, except
 * inside quotes, and empty lines are left out.
 * @throws CsvProblem
 */
export function parseCsv(file: string): CsvLine[] {
  const text = file.replace(BYTE_ORDER_MARK, "");
  const [mark = "", named] = SEPARATOR.exec(text) ?? [];
  const delimiter = named === undefined ? delimiterOf(text) : (named as Delimiter);
  const pattern = CELLS[delimiter];
  const lines: CsvLine[] = [];
  let line = mark === "" ? 1 : 2;
  let current: CsvLine = { line, end: line, cells: [] };
  let quoted = false;
  for (let at = mark.length; at <= text.length;) {
    pattern.lastIndex = at;
    const [found = "", inQuotes, plain = ""] = pattern.exec(text) ?? [];
    if (inQuotes === undefined && plain.includes('"')) {
      throw new CsvProblem(
        line,
        "A quote is not closed, or stands inside a cell. Put the whole cell in quotes, and double the quotes in it.",
      );
    }
    current.cells.push(withoutMark(inQuotes === undefined ? plain.trim() : inQuotes.replaceAll('""', '"')));
    quoted ||= inQuotes !== undefined;
    line += countLines(inQuotes ?? "");
    at += found.length;
    if (text[at] === delimiter) {
      at += 1;
      continue;
    }
    const isEmpty = current.cells.length === 1 && current.cells[0] === "" && !quoted;
    if (!isEmpty) lines.push({ ...current, end: line });
    at += text.startsWith("\r\n", at) ? 2 : 1;
    line += 1;
    current = { line, end: line, cells: [] };
    quoted = false;
  }
  return lines;
}

/** The one that the first line has most often, outside of quotes. */
function delimiterOf(text: string): Delimiter {
  const [head = ""] = /^[^\r\n]*/.exec(text.trimStart().replace(/"(?:[^"]|"")*"/g, "")) ?? [];
  const count = (one: Delimiter) => head.split(one).length;
  return ([",", ";", "\t"] as const).reduce((best, one) => (count(one) > count(best) ? one : best));
}

function countLines(text: string): number {
  return text.split(/\r\n|\r|\n/).length - 1;
}

/**
 * A spreadsheet runs a cell that begins like this as a formula, which can send the rest of the table to a stranger. Tables that
 * Moneta writes have an apostrophe before such cells: spreadsheets show them as text.
 */
const FORMULA = /^'*[=+\-@\t\r]/;

function withMark(cell: string): string {
  return FORMULA.test(cell) ? `'${cell}` : cell;
}

/** A file that Moneta wrote can be read again. */
function withoutMark(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
}

/** One line of a table, with its end. */
export function csvLine(cells: readonly string[]): string {
  // A line with one empty cell would be an empty line.
  const unsafe = cells.length === 1 ? /[",;\r\n]|^\s|\s$|^$/ : /[",;\r\n]|^\s|\s$/;
  const quoted = cells.map(withMark).map((cell) => (unsafe.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell));
  return `${quoted.join(",")}\r\n`;
}
