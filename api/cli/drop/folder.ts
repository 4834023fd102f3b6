import { readdir, realpath } from "node:fs/promises";
import { join, parse } from "node:path";

import { CsvError, parse as parseCsv } from "csv-parse/sync";
import { z } from "zod";

import { DEFAULT_LIMITS, type Limits, MAX_ATTRIBUTE_DEPTH, MAX_JSON_VALUES } from "../../config/limits.ts";
import { MAX_QUANTITY, MAX_TOKEN_ID } from "../../domain/numbers.ts";
import { OperatorError } from "../../operate/operator-error.ts";
import { faultOf, isStorable, NUMBERS } from "../../shared/storable.ts";
import { FileProblem, MediaFiles, readTextInside } from "./media-files.ts";

/** Reads and checks every file of the folder. */
export async function readFolder(path: string): Promise<FolderContents> {
  const folder = await realpath(path);
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
      contents.tokens.push({ source, tokenId, supply: null, metadata, media: { image } });
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
    const token = { source, tokenId: readTokenId(stem), supply: null, metadata: checked.metadata, media: {} };
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
const OWN_COLUMNS = ["file", "token_id", "supply"];

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

/* Checks of the metadata before anything is sent. The service checks again, and has the last word. */

const UNICODE = "Must be valid Unicode, without NUL characters.";
/** Leaves room for the other fields of a mint. */
const MOST_VALUES = MAX_JSON_VALUES - 100;
const TOO_MANY = `Must have at most ${MOST_VALUES.toString()} JSON values.`;
/** What keeps attributes from being stored. */
const FAULTS = {
  depth: `Must be nested at most ${MAX_ATTRIBUTE_DEPTH.toString()} levels deep.`,
  text: `Keys and texts: ${UNICODE}`,
  number: NUMBERS,
};

function text(longest: number) {
  return z
    .string()
    .refine(isStorable, UNICODE)
    .refine((value) => Array.from(value).length <= longest, `Must have at most ${longest.toString()} characters.`);
}

function uri(longest: number, schemes: string) {
  return text(longest).refine(
    (value) => new RegExp(`^(${schemes}):`, "i").test(value),
    `Must be a URI with one of the schemes ${schemes.replaceAll("|", ", ")}.`,
  );
}

function schemaOf(limits: Limits) {
  const link = uri(limits.uri, "http|https|ipfs|ar");
  const field = <S extends z.ZodType>(schema: S) => schema.nullish().transform((value) => value ?? undefined);
  return z.object({
    name: field(text(limits.name)),
    description: field(text(limits.description)),
    // A URI, or the name of a file.
    image: field(text(limits.uri)),
    animation_url: field(text(limits.uri)),
    external_url: field(link),
    youtube_url: field(link),
    background_color: field(text(limits.symbol)),
    attributes: field(
      z
        .array(z.unknown())
        .max(limits.attributes, `Must have at most ${limits.attributes.toString()} entries.`)
        .superRefine((value, context) => {
          const fault = faultOf(value, MAX_ATTRIBUTE_DEPTH);
          if (fault !== null) context.addIssue({ code: "custom", message: FAULTS[fault] });
        })
        .refine((value) => valuesOf(value) <= MOST_VALUES, TOO_MANY),
    ),
  } satisfies Record<TextField | "attributes", z.ZodType>);
}

const schema = schemaOf(DEFAULT_LIMITS);

interface CheckedMetadata {
  metadata: Metadata;
  problems: string[];
  ignored: string[];
}

/** Reads the metadata of a token in the form of ERC-721. */
function checkMetadata(value: unknown): CheckedMetadata {
  const checked = schema.safeParse(value);
  if (!checked.success) {
    const problems = checked.error.issues.map(({ path, message }) => {
      const field = path.join(".");
      return field === "" ? "The file must hold one JSON object." : `${field}: ${message}`;
    });
    return { metadata: {}, problems, ignored: [] };
  }
  const known = Object.entries(checked.data).filter(([, content]) => content !== undefined);
  const ignored = Object.keys(value as object).filter((name) => !(name in schema.shape));
  return { metadata: Object.fromEntries(known), problems: [], ignored };
}

/** @returns the integer without leading zeros, or null when it is not an integer of the range. */
function readTokenId(value: string): string | null {
  return readInteger(value, 0n, MAX_TOKEN_ID);
}

/** As `readTokenId`. */
export function readSupply(value: string): string | null {
  return readInteger(value, 1n, MAX_QUANTITY);
}

function readInteger(value: string, least: bigint, most: bigint): string | null {
  if (!/^[0-9]{1,78}$/.test(value)) return null;
  const integer = BigInt(value);
  return integer >= least && integer <= most ? integer.toString() : null;
}

/** Values of a JSON text, counted as generously as the service counts them. Never recurses: the caller chooses the depth. */
export function valuesOf(value: unknown): number {
  let count = 1;
  for (let level = [value]; level.length > 0;) {
    const containers = level.filter((one): one is object => typeof one === "object" && one !== null);
    level = containers.flatMap((one) => Object.values<unknown>(one as Record<string, unknown>));
    // An empty array counts as if it had an entry.
    count += level.length + containers.length;
  }
  return count;
}

/** Metadata fields that a mint takes as text. */
export const TEXT_FIELDS = [
  "name",
  "description",
  "image",
  "external_url",
  "background_color",
  "animation_url",
  "youtube_url",
] as const;
type TextField = (typeof TEXT_FIELDS)[number];

export type Metadata = Partial<Record<TextField, string>> & { attributes?: unknown[] };

/** A token as the folder describes it. */
export interface FolderToken {
  /** Where it is described: a JSON file, or a row of the table. */
  source: string;
  /** ERC1155 only: decimal digits. */
  tokenId: string | null;
  /** ERC1155 only: from the table. */
  supply: string | null;
  metadata: Metadata;
  /** Files in the folder that become these fields. */
  media: { image?: MediaFile; animation_url?: MediaFile };
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
