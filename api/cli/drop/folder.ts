import { readdir, realpath } from "node:fs/promises";
import { join, parse } from "node:path";

import { CsvError, parse as parseCsv } from "csv-parse/sync";

import { MAX_REFERENCE_LENGTH } from "../../config/limits.ts";
import { type MEDIA_FIELDS, METADATA_FIELDS, type TokenMetadata } from "../../domain/command.ts";
import { OperatorError } from "../../operate/operator-error.ts";
import { FileProblem, MediaFiles, readTextInside } from "./media-files.ts";
import { checkMetadata, faultOfText, type Owner, readOwner, readSupply, readTokenId } from "./values.ts";

/** Reads and checks every file of the folder. */
export async function readFolder(path: string): Promise<FolderContents> {
  const folder = await realpath(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new OperatorError(`There is no folder ${path}.`, { cause: error });
  });
  const listing = { folder, files: new MediaFiles(folder), images: await imagesOf(folder) };
  const names = await namesOf(folder);
  const hasTable = names.includes(TABLE);
  const hasJson = (await namesOf(`${folder}/json`)).length > 0;
  const pictures = names.filter((name) => !NO_PICTURES.includes(name.toLowerCase())).sort(byNumber);
  if (hasTable && hasJson) {
    throw new OperatorError(
      `${path} has both ${TABLE} and json/. Give the metadata in one of the two forms (docs/drops.md).`,
    );
  }
  if (!hasTable && !hasJson && pictures.length === 0) {
    throw new OperatorError(
      `${path} has neither ${TABLE} nor files in json/, and no pictures of its own. docs/drops.md shows the forms of a folder.`,
    );
  }
  const contents = hasTable
    ? await readCsvLayout(listing)
    : await (hasJson ? readJsonLayout(listing) : readPictures(listing, pictures));
  if (contents.tokens.length === 0 && contents.problems.length === 0) {
    throw new OperatorError(`${path} describes no token.`);
  }
  return contents;
}

/** The file that a drop writes into the folder at its end. */
export const REPORT = "drop-report.csv";
/** Files that a drop, or a system, leaves beside the pictures. In lower case. */
const NO_PICTURES = [REPORT, "thumbs.db", "desktop.ini"];

/** What only a table says of a token. */
const NO_TABLE = { supply: null, owner: null, reference: null };

/** Reads a folder of pictures without metadata: each file is a token that has the name of the file. */
async function readPictures(listing: Listing, names: readonly string[]): Promise<FolderContents> {
  const contents: FolderContents = { tokens: [], problems: [], ignored: new Set(), pictures: true };
  // Either all names are token ids, or the files are counted.
  const numbered = names.every((name) => readTokenId(parse(name).name) !== null);
  for (const [index, source] of names.entries()) {
    const { name } = parse(source);
    const fail = (message: string) => contents.problems.push({ source, message });
    const { metadata, problems } = checkMetadata({ name });
    problems.forEach(fail);
    try {
      const image = await listing.files.find(source, ["."], "image");
      const tokenId = numbered ? readTokenId(name) : (index + 1).toString();
      contents.tokens.push({ source, tokenId, ...NO_TABLE, metadata, media: { image } });
    } catch (error) {
      if (!(error instanceof FileProblem)) throw error;
      fail(error.message);
    }
  }
  return contents;
}

/** Reads `json/1.json` with `images/1.png`. */
async function readJsonLayout(listing: Listing): Promise<FolderContents> {
  const contents: FolderContents = { tokens: [], problems: [], ignored: new Set(), pictures: false };
  const names = (await namesOf(join(listing.folder, "json"))).filter((name) => /\.json$/i.test(name)).sort(byNumber);
  const used = new Set<string>();
  for (const name of names) {
    const source = `json/${name}`;
    const stem = name.slice(0, -".json".length);
    const fail = (message: string) => contents.problems.push({ source, message });
    const read = await jsonOf(listing.folder, source);
    if ("problem" in read) {
      fail(read.problem);
      continue;
    }
    const checked = checkMetadata(read.value);
    checked.problems.forEach(fail);
    for (const field of checked.ignored) contents.ignored.add(field);
    if (checked.problems.length > 0) continue;
    const token = { source, tokenId: readTokenId(stem), ...NO_TABLE, metadata: checked.metadata, media: {} };
    for (const problem of await linkMedia(token, { listing, stem, places: ["json", "images", "."] })) fail(problem);
    for (const file of listing.images.get(stem) ?? []) used.add(file);
    for (const { file } of Object.values<{ file: string }>(token.media)) used.add(file);
    contents.tokens.push(token);
  }
  for (const file of [...listing.images.values()].flat().sort(byNumber)) {
    if (used.has(file)) continue;
    contents.problems.push({ source: file, message: "No JSON file in json/ belongs to this picture." });
  }
  return contents;
}

async function jsonOf(folder: string, file: string): Promise<{ value: unknown } | { problem: string }> {
  try {
    return { value: JSON.parse(await readTextInside(folder, file)) as unknown };
  } catch (error) {
    if (error instanceof SyntaxError) return { problem: "The file is not valid JSON." };
    if (error instanceof FileProblem) return { problem: error.message };
    throw error;
  }
}

const TABLE = "metadata.csv";
const ATTRIBUTE = "attributes.";
const OWN_COLUMNS = ["file", "token_id", "supply", "owner", "reference"];

type Line = Record<string, string>;

/** Reads `metadata.csv`. */
async function readCsvLayout(listing: Listing): Promise<FolderContents> {
  const contents: FolderContents = { tokens: [], problems: [], ignored: new Set(), pictures: false };
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
  const texts = METADATA_FIELDS.filter((field) => field !== "attributes");
  const known = new Set<string>([...OWN_COLUMNS, ...texts]);
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
  const { file, token_id: id, supply, owner = null, reference = null } = Object.fromEntries(cells) as Partial<Line>;
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
  const receiver = owner === null ? null : readOwner(owner);
  if (typeof receiver === "string") problems.push(`owner: ${receiver}`);
  const wrong = faultOfText(reference ?? "", MAX_REFERENCE_LENGTH);
  if (wrong !== null) problems.push(`reference: ${wrong}`);
  const token: FolderToken = {
    ...{ source, tokenId, supply: copies, metadata, media: {}, reference },
    owner: typeof receiver === "string" ? null : receiver,
  };
  if (problems.length === 0) {
    problems.push(...(await linkMedia(token, { listing, stem: id ?? stem, places: [".", "images"] })));
  }
  return { token, problems };
}

/** What is in the folder. */
interface Listing {
  /** Its real path. */
  folder: string;
  files: MediaFiles;
  /** The files in images/ by their name without extension. */
  images: Map<string, string[]>;
}

/** Names of the files in a folder. None when the folder does not exist. */
async function namesOf(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    // Systems leave files such as .DS_Store.
    return entries.filter((entry) => !entry.isDirectory() && !entry.name.startsWith(".")).map(({ name }) => name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** 2 comes before 10. */
function byNumber(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true }) || (a < b ? -1 : 1);
}

/** The files in images/ by their name without extension. */
async function imagesOf(folder: string): Promise<Map<string, string[]>> {
  const images = new Map<string, string[]>();
  for (const name of await namesOf(join(folder, "images"))) {
    const { name: stem } = parse(name);
    images.set(stem, [...(images.get(stem) ?? []), `images/${name}`]);
  }
  return images;
}

interface Place {
  listing: Listing;
  /** Name of the picture in images/, without extension; null when the token names its file. */
  stem: string | null;
  /** Where files that the token names are. */
  places: readonly string[];
}

/**
 * Finds the files of a token and moves them from its metadata to its media. A picture of the token's own name in images/
 * comes before a URI in `image`: generators write a placeholder there.
 * @returns what is wrong.
 */
async function linkMedia(token: FolderToken, { listing, stem, places }: Place): Promise<string[]> {
  const problems: string[] = [];
  const link = async (field: MediaField, name: string, from: readonly string[]) => {
    try {
      token.media[field] = await listing.files.find(name, from, field);
      Reflect.deleteProperty(token.metadata, field);
    } catch (error) {
      if (!(error instanceof FileProblem)) throw error;
      problems.push(error.message);
    }
  };
  const { image, animation_url: animation } = token.metadata;
  const own = stem === null ? [] : (listing.images.get(stem) ?? []);
  if (image !== undefined && !isUri(image)) await link("image", image, places);
  else if (own.length === 1 && own[0] !== undefined) await link("image", own[0], ["."]);
  else if (own.length > 1)
    problems.push(`image: more than one file fits: ${own.join(", ")}. Name one of them in image.`);
  else if (image === undefined)
    problems.push(`image: no picture found. Add images/${stem ?? "NAME"}.png, or set image.`);
  if (animation !== undefined && !isUri(animation)) await link("animation_url", animation, places);
  return problems;
}

/** A token as the folder describes it. */
export interface FolderToken {
  /** Where it is described: a JSON file, or a row of the table. */
  source: string;
  /** ERC1155 only: decimal digits. */
  tokenId: string | null;
  /** ERC1155 only: from the table. */
  supply: string | null;
  /** From the table. null: who gets all tokens without an owner. */
  owner: Owner | null;
  /** From the table. */
  reference: string | null;
  metadata: TokenMetadata;
  /** Files in the folder that become these fields. */
  media: Partial<Record<(typeof MEDIA_FIELDS)[number], MediaFile>>;
}

export type MediaField = keyof FolderToken["media"];

export interface MediaFile {
  /** Relative to the folder. */
  file: string;
  type: string;
  bytes: number;
  sha256: string;
}

/** What is wrong with a file or a row. */
export interface Problem {
  source: string;
  message: string;
}

export interface FolderContents {
  tokens: FolderToken[];
  problems: Problem[];
  /** Fields of the metadata that a mint does not take. They are left out. */
  ignored: Set<string>;
  /** Whether these are pictures without metadata. */
  pictures: boolean;
}

/** Fields that hold a file or a URI. */
function isUri(text: string): boolean {
  return /^(https?|ipfs|ar|data):/i.test(text);
}
