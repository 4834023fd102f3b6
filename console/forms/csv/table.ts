import type { Field } from "../model/fields.ts";
import { CsvProblem, parseCsv } from "./parse.ts";

/** What is wrong in a table. */
export interface TableProblem {
  /** null: it concerns the whole file. */
  line: number | null;
  column: string | null;
  message: string;
}

export interface TableRow {
  line: number;
  /** Cells that are not empty, by column. */
  cells: ReadonlyMap<string, string>;
}

export interface Table {
  columns: readonly string[];
  rows: readonly TableRow[];
  problems: readonly TableProblem[];
}

/* The columns `file`, `token_id`, `supply`, `attributes.NAME` and those of the metadata are those of `npm run cli -- drop`. */
export const ATTRIBUTE = "attributes.";
export const FILE = "file";
/** A drop of ERC721 tokens may have it too, to name the pictures. It is not sent then. */
export const TOKEN_ID = "token_id";
export const SUPPLY = "supply";
export const USER = "user_identifier";
export const ADDRESS = "to_address";
/** A file of failed rows has it. It is not read. */
export const ERROR = "error";

/** Names of the columns that a collection takes. @param fields of a mint into the collection. */
export function columnsOf(fields: readonly Field[]): string[] {
  const names = new Set(fields.map(({ name }) => name));
  const plain = fields.filter(({ kind }) => ["text", "long-text", "uri"].includes(kind)).map(({ name }) => name);
  return [
    ...(names.has("image") ? [FILE] : []),
    TOKEN_ID,
    ...(names.has("token_id") ? [SUPPLY] : []),
    ADDRESS,
    USER,
    ...plain,
  ];
}

/** Reads a table, and finds what is wrong with its columns. */
export function readTable(text: string, fields: readonly Field[]): Table {
  try {
    const [head, ...lines] = parseCsv(text);
    const columns = head?.cells ?? [];
    const problems = columnProblems(columns, fields);
    // With a wrong head, what is said of each row would be wrong, too.
    if (problems.length > 0) return { columns, rows: [], problems };
    if (lines.length === 0)
      problems.push({
        line: null,
        column: null,
        message:
          "The file has no rows. Put the names of the columns in the first line, and one token in each further line.",
      });
    const rows = lines.map(({ line, cells }) => {
      if (cells.length !== columns.length) {
        const message = `The row has ${cells.length.toString()} cells, but there are ${columns.length.toString()} columns. Put cells that contain a comma in quotes.`;
        problems.push({ line, column: null, message });
      }
      const filled = columns.map((column, index) => [column, cells[index] ?? ""] as const);
      return { line, cells: new Map(filled.filter(([, cell]) => cell !== "")) };
    });
    return { columns, rows, problems };
  } catch (error) {
    if (!(error instanceof CsvProblem)) throw error;
    return { columns: [], rows: [], problems: [{ line: error.line, column: null, message: error.message }] };
  }
}

function columnProblems(columns: readonly string[], fields: readonly Field[]): TableProblem[] {
  const known = columnsOf(fields);
  const attributes = fields.some(({ kind }) => kind === "attributes");
  const all = [...known, ...(attributes ? [`${ATTRIBUTE}NAME`] : [])].join(", ");
  const isKnown = (column: string) =>
    known.includes(column) || column === ERROR || (attributes && column.startsWith(ATTRIBUTE) && column !== ATTRIBUTE);
  const problems: TableProblem[] = columns
    .filter((column, index) => columns.indexOf(column) !== index)
    .map((column) => ({ line: 1, column, message: `The column "${column}" is there twice.` }));
  const [unknown, ...others] = columns.filter((column) => !isKnown(column));
  if (unknown === undefined) return problems;
  const names = [unknown, ...others].map((column) => `"${column}"`).join(", ");
  const message = `${others.length === 0 ? `The column ${names} is` : `The columns ${names} are`} not known. Use ${all}.`;
  return [...problems, { line: 1, column: unknown, message }];
}
