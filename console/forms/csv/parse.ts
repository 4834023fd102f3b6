/** A line of a table. */
interface CsvLine {
  /** Where it begins in the file, counted from 1. */
  line: number;
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
/** A quoted cell, with the space around it; or the text up to the next comma or end of line. */
const CELL = /[^\S\r\n]*"((?:[^"]|"")*)"[^\S\r\n]*(?=[,\r\n]|$)|([^,\r\n]*)/y;

/**
 * Reads comma-separated values (RFC 4180). Space around cells is removed, except inside quotes, and empty lines are left out.
 * @throws CsvProblem
 */
export function parseCsv(file: string): CsvLine[] {
  const text = file.replace(BYTE_ORDER_MARK, "");
  const lines: CsvLine[] = [];
  let current: CsvLine = { line: 1, cells: [] };
  let line = 1;
  let quoted = false;
  for (let at = 0; at <= text.length;) {
    CELL.lastIndex = at;
    const [found = "", inQuotes, plain = ""] = CELL.exec(text) ?? [];
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
    if (text[at] === ",") {
      at += 1;
      continue;
    }
    const isEmpty = current.cells.length === 1 && current.cells[0] === "" && !quoted;
    if (!isEmpty) lines.push(current);
    at += text.startsWith("\r\n", at) ? 2 : 1;
    line += 1;
    current = { line, cells: [] };
    quoted = false;
  }
  return lines;
}

function countLines(text: string): number {
  return text.split(/\r\n|\r|\n/).length - 1;
}

/**
 * A spreadsheet runs a cell that begins like this as a formula, which can send the rest of the table to a stranger. Files that
 * the console writes have an apostrophe before such cells: spreadsheets show them as text.
 */
const FORMULA = /^'*[=+\-@\t\r]/;

function withMark(cell: string): string {
  return FORMULA.test(cell) ? `'${cell}` : cell;
}

/** A file that the console wrote can be read again. */
function withoutMark(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
}

/** One line of a table, with its end. */
export function csvLine(cells: readonly string[]): string {
  const quoted = cells
    .map(withMark)
    .map((cell) => (/[",\r\n]|^\s|\s$|^$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell));
  return `${quoted.join(",")}\r\n`;
}
