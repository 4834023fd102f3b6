import { readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";

import { getAddress } from "ethers";

import { type FolderContents, type FolderToken, readFolder } from "../../../client/drop/folder.ts";
import { FolderProblem, textNames } from "../../../client/drop/layout.ts";
import { byNumber, isJunk } from "../../../client/drop/names.ts";
import type { MediaField } from "../../../client/drop/values.ts";
import { OperatorError } from "../../operate/operator-error.ts";
import { FileProblem, MediaFiles, readTextInside } from "./media-files.ts";

export interface MediaFile {
  /** Relative to the folder. */
  file: string;
  type: string;
  bytes: number;
  sha256: string;
}

/** A token whose files were read. */
export interface DropToken extends FolderToken {
  media: Partial<Record<MediaField, MediaFile>>;
}

export interface DropContents extends FolderContents {
  tokens: DropToken[];
}

/** Reads and checks every file of the folder. */
export async function readDropFolder(path: string, type: "ERC721" | "ERC1155"): Promise<DropContents> {
  const folder = await realpath(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new OperatorError(`There is no folder ${path}.`, { cause: error });
  });
  const names = (await namesIn(folder, "", DEPTH)).sort(byNumber);
  const texts = new Map<string, { text: string } | { problem: string }>();
  for (const name of textNames(names)) texts.set(name, await readTextInside(folder, name));
  try {
    const contents = readFolder({
      names,
      textOf: (name) => texts.get(name) ?? { problem: "The file was not read." },
      type,
      readAddress,
    });
    if (contents.tokens.length === 0 && contents.problems.length === 0) {
      throw new FolderProblem("The folder describes no token.");
    }
    return { ...contents, tokens: await withMedia(folder, contents) };
  } catch (error) {
    if (!(error instanceof FolderProblem)) throw error;
    throw new OperatorError(`${path}: ${error.message}`, { cause: error });
  }
}

/** @returns null when the checksum is wrong */
export function readAddress(text: string): string | null {
  try {
    return getAddress(text);
  } catch {
    return null;
  }
}

/** Reads the files of the tokens. Faults become problems. @returns the tokens whose files can be used */
async function withMedia(folder: string, contents: FolderContents): Promise<DropToken[]> {
  const files = new MediaFiles(folder);
  const tokens: DropToken[] = [];
  for (const token of contents.tokens) {
    const media: DropToken["media"] = {};
    for (const [field, file] of Object.entries(token.files) as [MediaField, string][]) {
      try {
        media[field] = await files.find(file, field);
      } catch (error) {
        if (!(error instanceof FileProblem)) throw error;
        contents.problems.push({ source: token.source, message: `${field}: ${error.message}` });
      }
    }
    if (Object.keys(media).length === Object.keys(token.files).length) tokens.push({ ...token, media });
  }
  return tokens;
}

/** Folders in folders that are looked into. */
const DEPTH = 3;

/** Names of all files, relative to the folder. Folders behind links are looked into: what is outside is refused when it is read. */
async function namesIn(folder: string, below: string, depth: number): Promise<string[]> {
  const names: string[] = [];
  for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
    const name = below + entry.name;
    if (isJunk(name)) continue;
    const isFolder =
      entry.isDirectory() ||
      (entry.isSymbolicLink() && (await stat(join(folder, name)).catch(() => null))?.isDirectory() === true);
    if (!isFolder) names.push(name);
    else if (depth > 1) names.push(...(await namesIn(folder, `${name}/`, depth - 1)));
  }
  return names;
}
