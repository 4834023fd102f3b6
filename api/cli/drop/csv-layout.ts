import { parse } from "node:path";

import { CsvError, parse as parseCsv } from "csv-parse/sync";

import { FileProblem, readTextInside } from "./inside.ts";
import { linkMedia, type Listing } from "./layout.ts";
import { checkMetadata, readSupply, readTokenId } from "./metadata.ts";
import type { FolderContents, FolderToken } from "./token.ts";
import { TEXT_FIELDS } from "./token.ts";

export const TABLE = "metadata.csv";
const ATTRIBUTE = "attributes.";
const OWN_COLUMNS = ["file", "token_id", "supply"];

type Line = Record<string, string>;

/** Reads `metadata.csv`. */
export async function readCsvLayout(listing: Listing): Promise<FolderContents> {
  const contents: FolderContents = { tokens: [], problems: [], ignored: new Set() };
  const fail = (source: string, message: string) => contents.problems.push({ source, message });
  let lines: { record: Line; info: { lines: number } }[];
  try {
    const text = await readTextInside(listing.folder, TABLE);
    lines = parseCsv(text, { bom: true, columns: checkedColumns, info: true, skip_empty_lines: true, trim: true });
  } catch (error) {
    const known = [ColumnProblem, CsvError, FileProblem].some((kind) => error instanceof kind);
    if (!known) throw error;
    fail(TABLE, (error as Error).message);
    return contents;
  }
  for (const { record, info } of lines) {
    const source = `${TABLE}, line ${info.lines.toString()}`;
    const { token, problems } = await readLine(record, source, listing);
    for (const problem of problems) fail(source, problem);
    if (problems.length === 0) contents.tokens.push(token);
  }
  return contents;
}

class ColumnProblem extends Error {
  override readonly name = "ColumnProblem";
}

function checkedColumns(columns: string[]): string[] {
  const known = new Set<string>([...OWN_COLUMNS, ...TEXT_FIELDS]);
  const problems = columns.flatMap((column, index) => {
    if (columns.indexOf(column) !== index) return [`The column ${column} is there twice.`];
    if (known.has(column) || (column.startsWith(ATTRIBUTE) && column !== ATTRIBUTE)) return [];
    return [`The column "${column}" is not known. Use ${[...known].join(", ")} or ${ATTRIBUTE}NAME.`];
  });
  if (!columns.includes("file") && !columns.includes("token_id")) problems.push("A column file or token_id is needed.");
  if (problems.length > 0) throw new ColumnProblem(problems.join(" "));
  return columns;
}

async function readLine(
  record: Line,
  source: string,
  listing: Listing,
): Promise<{ token: FolderToken; problems: string[] }> {
  const cells = Object.entries(record).filter(([, cell]) => cell !== "");
  const { file, token_id: id, supply } = Object.fromEntries(cells) as Partial<Line>;
  const fields = cells.filter(([column]) => !OWN_COLUMNS.includes(column) && !column.startsWith(ATTRIBUTE));
  const attributes = cells
    .filter(([column]) => column.startsWith(ATTRIBUTE))
    .map(([column, value]) => ({ trait_type: column.slice(ATTRIBUTE.length), value }));
  const named = {
    ...Object.fromEntries(fields),
    ...(attributes.length > 0 && { attributes }),
    ...(file !== undefined && { image: file }),
  };
  const { metadata, problems } = checkMetadata(named);
  const stem = file === undefined ? null : parse(file).name;
  const tokenId = readTokenId(id ?? stem ?? "");
  const copies = supply === undefined ? null : readSupply(supply);
  if (id !== undefined && tokenId === null) problems.push("token_id: Must be an integer from 0 to 2^256-1.");
  if (supply !== undefined && copies === null) problems.push("supply: Must be an integer from 1 to 2^128-1.");
  if (file === undefined && id === undefined) problems.push("Give file or token_id.");
  const token: FolderToken = { source, tokenId, supply: copies, metadata, media: {} };
  if (problems.length === 0) {
    problems.push(...(await linkMedia(token, { listing, stem: id ?? stem, places: [".", "images"] })));
  }
  return { token, problems };
}
