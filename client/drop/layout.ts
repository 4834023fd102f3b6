import { baseOf, byNumber, folderOf, isJunk, stemOf } from "./names.ts";
import type { TextOf } from "./folder.ts";

/** How a folder says which tokens it has. */
export interface Layout {
  kind: "pictures" | "files" | "list" | "table";
  /** Who writes folders like this, as a sentence shows it; null: anybody. */
  format: string | null;
  /** JSON files of tokens, or the one list or table. */
  files: readonly string[];
  /** Pictures and other media that may belong to tokens. */
  pictures: readonly string[];
  /** Where files that metadata names are looked for: folders, with "/" at their ends. */
  places: readonly string[];
  /** Files that describe no token. */
  left: readonly string[];
}

/**
 * Thrown with a sentence for the user when a folder has no form that is known.
 * @example
 * try {
 *   readFolder(folder);
 * } catch (error) {
 *   if (!(error instanceof FolderProblem)) throw error;
 *   console.error(error.message);
 * }
 */
export class FolderProblem extends Error {
  override readonly name = "FolderProblem";
}

/** The files that a drop writes into the folder at its end. */
export const REPORT = "drop-report.csv";
/** Old and new ids. */
export const TOKEN_IDS = "drop-token-ids.csv";
const WRITTEN = [REPORT, TOKEN_IDS];
const TABLE = "metadata.csv";
/** Folders of the JSON files, and of the pictures, as tools name them. */
const JSON_FOLDERS = ["json/", "metadata/"];
const PICTURE_FOLDERS = ["images/", "image/", "media/", "assets/"];
/** Describes the collection, in the output of Sugar. */
const OF_COLLECTION = "collection";

/** Most bytes of all JSON files and tables of a folder. They are in memory together. Pictures are not. */
export const MOST_TEXT = {
  bytes: 64 * 2 ** 20,
  message: "The JSON files and tables have more than 64 MiB. Split the folder into several.",
} as const;

/**
 * The files whose text `readFolder` asks for.
 * @example
 * const texts = new Map(textNames([...files.keys()]).map((name) => [name, textOfBytes(files.get(name)!)]));
 */
export function textNames(names: readonly string[]): string[] {
  return names.filter((name) => !isJunk(name) && (/\.(json|csv|tsv)$/i.test(name) || isNameless(name)));
}

/** Tools write `json/1` for a server that shows it without an extension. */
function isNameless(name: string): boolean {
  const folder = folderOf(name);
  return JSON_FOLDERS.some((one) => folder.endsWith(one)) && !baseOf(name).includes(".");
}

/** @throws FolderProblem */
export function layoutOf(all: readonly string[], textOf: TextOf): Layout {
  const names = all.filter((name) => !isJunk(name));
  const root = rootOf(names);
  const below = names.filter((name) => name.startsWith(root));
  const top = below.filter((name) => folderOf(name) === root && !WRITTEN.includes(name)).sort(byNumber);
  const tables = top.filter((name) => /\.(csv|tsv)$/i.test(name));
  const folder = JSON_FOLDERS.map((one) => root + one).find((one) => below.some((name) => folderOf(name) === one));
  const inFolder = folder === undefined ? [] : below.filter((name) => folderOf(name) === folder);
  const jsons = jsonsOf(inFolder, textOf);
  const lists = [...jsons.lists, ...top.filter((name) => isList(name, textOf))];
  const table = tables.find((name) => baseOf(name) === TABLE) ?? (tables.length === 1 ? tables[0] : undefined);
  const pictureFolder = PICTURE_FOLDERS.map((one) => root + one).find((one) =>
    below.some((name) => folderOf(name) === one),
  );
  const pictures = below.filter((name) => folderOf(name) === pictureFolder).sort(byNumber);
  const places = [root, ...(pictureFolder === undefined ? [`${root}images/`] : [pictureFolder])];
  if (table !== undefined && jsons.tokens.length > 0) {
    throw new FolderProblem(
      `The folder has both ${table} and ${folder ?? ""}. Give the metadata in one of the two forms (docs/drops.md).`,
    );
  }
  if (table === undefined && tables.length > 1) {
    throw new FolderProblem(
      `The folder has several tables: ${tables.join(", ")}. Leave one of them, or name it ${TABLE}.`,
    );
  }
  if (table !== undefined) {
    const beside = pictures.length > 0 ? pictures : media(top);
    return { kind: "table", format: null, files: [table], pictures: beside, places, left: [] };
  }
  if (jsons.tokens.length > 0) {
    const format = formatOf([...jsons.lists, ...jsons.tokens], textOf);
    const from = [folder ?? root, ...places.toReversed()];
    return { kind: "files", format, files: jsons.tokens, pictures, places: from, left: jsons.left };
  }
  if (lists.length > 0) {
    const beside = pictures.length > 0 ? pictures : media(top);
    const format = formatOf(lists, textOf) ?? "a generator (a list of all tokens in one file)";
    return {
      kind: "list",
      format,
      files: lists.slice(0, 1),
      pictures: beside,
      places: places.toReversed(),
      left: lists.slice(1),
    };
  }
  // Sugar has JSON files and pictures in `assets/`.
  const pairs = top.length === 0 && pictures.some((name) => /\.json$/i.test(name));
  return pairs ? layoutOfTop(pictures, pictureFolder ?? root, textOf) : layoutOfTop(top, root, textOf);
}

/** JSON files and pictures in one folder, or pictures only. */
function layoutOfTop(top: readonly string[], root: string, textOf: TextOf): Layout {
  const beside = jsonsOf(
    top.filter((name) => /\.json$/i.test(name)),
    textOf,
  );
  if (beside.tokens.length > 0) {
    const pairs = media(top).filter((name) => stemOf(name) !== OF_COLLECTION);
    const format = formatOf(beside.tokens, textOf) ?? "Sugar, for Metaplex (JSON files and pictures in one folder)";
    return {
      ...{ kind: "files", format, files: beside.tokens, pictures: pairs, places: [root] },
      left: [...beside.left, ...top.filter((name) => stemOf(name) === OF_COLLECTION && !beside.left.includes(name))],
    };
  }
  if (top.length === 0) {
    throw new FolderProblem(
      `The folder has neither ${TABLE} nor files in json/, and no pictures of its own. docs/drops.md shows the forms of a folder.`,
    );
  }
  return { kind: "pictures", format: null, files: [], pictures: top, places: [root], left: [] };
}

/** Tools write into folders of their own, such as `build/`. @returns "" or its name with "/" */
function rootOf(names: readonly string[], above = ""): string {
  const below = names.filter((name) => name.startsWith(above) && !WRITTEN.includes(name));
  const known = ["", ...JSON_FOLDERS, ...PICTURE_FOLDERS].map((folder) => above + folder);
  if (below.some((name) => known.includes(folderOf(name)))) return above;
  const folders = [...new Set(below.map((name) => `${above}${name.slice(above.length).split("/")[0] ?? ""}/`))];
  const only = folders.length === 1 ? folders[0] : folders.find((folder) => folder === "build/");
  return only === undefined ? above : rootOf(names, only);
}

function media(names: readonly string[]): string[] {
  return names.filter((name) => !/\.(json|csv|tsv)$/i.test(name));
}

/** JSON files of tokens, and other files beside them. */
function jsonsOf(names: readonly string[], textOf: TextOf): { tokens: string[]; lists: string[]; left: string[] } {
  const withExtension = names.filter((name) => /\.json$/i.test(name));
  const found = (withExtension.length > 0 ? withExtension : names.filter(isNameless)).sort(byNumber);
  const lists = found.filter((name) => isList(name, textOf));
  // What describes the collection. A token may have this name when there are no other tokens.
  const others = found.filter((name) => stemOf(name) === OF_COLLECTION && found.length > 1);
  const tokens = found.filter((name) => !lists.includes(name) && !others.includes(name));
  return { tokens, lists, left: [...lists, ...others] };
}

/** Whether the file has a list: the metadata of all tokens. */
function isList(name: string, textOf: TextOf): boolean {
  if (!/\.json$/i.test(name)) return false;
  const read = textOf(name);
  return "text" in read && /^\uFEFF?\s*\[/.test(read.text);
}

/** What tools leave in the first file that they write. */
function formatOf(files: readonly string[], textOf: TextOf): string | null {
  const [first] = files;
  const read = first === undefined ? { problem: "" } : textOf(first);
  if (!("text" in read)) return null;
  if (/NewUriToReplace|"compiler"\s*:|"dna"\s*:[^]*"edition"\s*:/i.test(read.text))
    return "HashLips (json/ and images/, or one list)";
  if (/"seller_fee_basis_points"\s*:|"properties"\s*:\s*\{[^]*"files"\s*:/.test(read.text))
    return "Sugar, for Metaplex";
  return null;
}
