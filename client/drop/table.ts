import { CsvProblem, parseCsv } from "./csv.ts";

/** What is wrong in a table. */
export interface TableProblem {
  /** null: it concerns the whole file. */
  line: number | null;
  column: string | null;
  message: string;
}

export interface TableRow {
  /** Where it begins, and where it ends. */
  line: number;
  end: number;
  /** Cells that are not empty, by column. */
  cells: ReadonlyMap<string, string>;
}

export interface Table {
  /** Their names as Moneta has them, whoever wrote the table. */
  columns: readonly string[];
  rows: readonly TableRow[];
  problems: readonly TableProblem[];
  /** Who wrote the table, as a sentence shows it; null: anybody. */
  format: string | null;
}

export const ATTRIBUTE = "attributes.";
export const FILE = "file";
export const TOKEN_ID = "token_id";
export const SUPPLY = "supply";
/** An address, or a user identifier. */
export const OWNER = "owner";
export const USER = "user_identifier";
export const ADDRESS = "to_address";
export const URI = "uri";
/** A file of failed rows has it. It is not read. */
export const ERROR = "error";

/** Names of other tools, without what `plain` removes. */
const ALIASES: Readonly<Record<string, string>> = { filename: FILE, walletaddress: ADDRESS };
const IN_BRACKETS = /^attributes\s*\[(.*)\]$/i;
const WITH_DOT = /^attributes\.(.*)$/i;

/** Reads a table, and finds what is wrong with its columns. @param known columns, without those of attributes */
export function readTable(text: string, known: readonly string[], attributes = true): Table {
  try {
    const [head, ...lines] = parseCsv(text);
    const written = head?.cells ?? [];
    const isThirdweb = attributes && looksLikeThirdweb(written);
    const names = new Map([...known, ERROR].map((name) => [plain(name), name]));
    const columns = written.map((column) => {
      const name = names.get(plain(ALIASES[plain(column)] ?? column));
      const trait = (IN_BRACKETS.exec(column) ?? WITH_DOT.exec(column))?.[1]?.trim() ?? "";
      if (name !== undefined) return name;
      if (trait !== "" && attributes) return `${ATTRIBUTE}${trait}`;
      return isThirdweb && column !== "" ? `${ATTRIBUTE}${column}` : column;
    });
    // Spreadsheets write columns that are empty.
    const used = columns.filter((column, index) => column !== "" || lines.some(({ cells }) => cells[index]));
    const problems = columnProblems(used, known, attributes);
    const rows: TableRow[] = [];
    for (const { line, end, cells } of lines) {
      if (cells.every((cell) => cell === "")) continue;
      if (cells.length !== columns.length) problems.push(wrongLength(line, cells.length, columns.length));
      const filled = columns.map((column, index) => [column, cells[index] ?? ""] as const);
      rows.push({ line, end, cells: new Map(filled.filter(([, cell]) => cell !== "")) });
    }
    if (rows.length === 0) {
      const message =
        "The table has no rows. Put the names of the columns in the first line, and one token in each further line.";
      problems.push({ line: null, column: null, message });
    }
    return { columns: used, rows, problems, format: formatOf(written, isThirdweb) };
  } catch (error) {
    if (!(error instanceof CsvProblem)) throw error;
    const problems = [{ line: error.line, column: null, message: error.message }];
    return { columns: [], rows: [], problems, format: null };
  }
}

/** Tools write the same names in other forms: `tokenID`, `Token ID`, `file_name`. */
function plain(column: string): string {
  return column
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\s_-]/g, "");
}

const OF_THIRDWEB = ["description", "image", "animationurl", "externalurl", "backgroundcolor", "youtubeurl"];

/** It names neither files nor ids: pictures belong to rows by their order. All its other columns are traits. */
function looksLikeThirdweb(columns: readonly string[]): boolean {
  const names = columns.map(plain);
  const ours = [FILE, "filename", TOKEN_ID, OWNER, USER, ADDRESS, SUPPLY].map(plain);
  return (
    names.includes("name") &&
    OF_THIRDWEB.some((name) => names.includes(name)) &&
    !ours.some((name) => names.includes(name))
  );
}

function formatOf(columns: readonly string[], isThirdweb: boolean): string | null {
  const names = columns.map(plain);
  if (names.includes("tokenid") && columns.some((column) => plain(column) === "filename"))
    return "OpenSea Studio (a table)";
  if (isThirdweb) return "thirdweb (a table)";
  return names.includes(plain(ADDRESS)) || names.includes(plain(USER))
    ? "Moneta's console (the template of its import)"
    : null;
}

function wrongLength(line: number, cells: number, columns: number): TableProblem {
  const message = `The row has ${cells.toString()} cells, but there are ${columns.toString()} columns. Put cells that contain the separator in quotes.`;
  return { line, column: null, message };
}

function columnProblems(columns: readonly string[], known: readonly string[], attributes: boolean): TableProblem[] {
  const all = [...known, ...(attributes ? [`${ATTRIBUTE}NAME`] : [])].join(", ");
  const isKnown = (column: string) =>
    known.includes(column) || column === ERROR || (attributes && column.startsWith(ATTRIBUTE));
  const problems: TableProblem[] = [
    ...new Set(columns.filter((column, index) => columns.indexOf(column) !== index)),
  ].map((column) => ({ line: 1, column, message: `The column "${column}" is there twice.` }));
  const unknown = columns.filter((column) => !isKnown(column));
  if (unknown.length === 0) return problems;
  const names = unknown.map((column) => `"${column}"`).join(", ");
  const message = `${unknown.length === 1 ? `The column ${names} is` : `The columns ${names} are`} not known. Use ${all}.`;
  return [...problems, { line: 1, column: unknown[0] ?? null, message }];
}
