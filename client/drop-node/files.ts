import { createHash } from "node:crypto";
import { openAsBlob } from "node:fs";
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";

import { type Folder, type FolderContents, type FolderToken, readFolder } from "../drop/folder.ts";
import { FolderProblem, MOST_TEXT, textNames } from "../drop/layout.ts";
import { byNumber, DEPTH, isJunk } from "../drop/names.ts";
import { textOfBytes } from "../drop/text.ts";
import { LIMITS, type MediaField } from "../drop/values.ts";
import { faultOfMedia } from "../rules/media.ts";
import { DropStopped } from "./stopped.ts";

/** A picture or another file of a token. */
export interface MediaFile {
  /** Relative to the folder. */
  file: string;
  bytes: number;
  sha256: string;
}

/** A token whose files were read. */
export interface DropToken extends FolderToken {
  media: Partial<Record<MediaField, MediaFile>>;
}

/** What a program can check that the client cannot, because it has no packages for it. */
export interface DropChecks {
  /** @returns the address with its checksum; null: the checksum is wrong. Without it, the service checks. */
  readAddress?: (address: string) => string | null;
  /** @returns the media type that the bytes have. Without it, the service checks when the file is uploaded. */
  typeOf?: (file: Blob) => Promise<string>;
}

/** Reads and checks every file of the folder. @throws DropStopped */
export async function readDropFolder(
  path: string,
  type: Folder["type"],
  { readAddress, typeOf }: DropChecks = {},
): Promise<FolderContents & { tokens: DropToken[] }> {
  const folder = await realpath(path).catch((error: unknown) => {
    throw new DropStopped(`There is no folder ${path}.`, { cause: error });
  });
  if (!(await stat(folder)).isDirectory()) throw new DropStopped(`${path} is not a folder.`);
  const names = (await namesIn(folder, "", DEPTH)).sort(byNumber);
  const texts = await textsOf(folder, textNames(names));
  try {
    const contents = readFolder({
      names,
      textOf: (name) => texts.get(name) ?? { problem: "The file was not read." },
      type,
      ...(readAddress && { readAddress }),
    });
    if (contents.tokens.length === 0 && contents.problems.length === 0) {
      throw new FolderProblem("The folder describes no token.");
    }
    return { ...contents, tokens: await withMedia(folder, contents, typeOf) };
  } catch (error) {
    if (!(error instanceof FolderProblem)) throw error;
    throw new DropStopped(`${path}: ${error.message}`, { cause: error });
  }
}

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

/** Reads the texts of the folder. @throws DropStopped when they are too large */
async function textsOf(folder: string, names: readonly string[]) {
  const texts = new Map<string, { text: string } | { problem: string }>();
  let bytes = 0;
  for (const name of names) {
    const path = await pathInside(folder, name);
    if ("problem" in path) {
      texts.set(name, { problem: `The file ${path.problem}` });
      continue;
    }
    bytes += path.bytes;
    if (bytes > MOST_TEXT.bytes) throw new DropStopped(MOST_TEXT.message);
    texts.set(name, textOfBytes(await readFile(join(folder, path.file))));
  }
  return texts;
}

/**
 * Metadata from others must not publish files of this machine, also not through a link.
 * @param folder its real path @returns the name of the file itself, relative to the folder, or why it cannot be used
 */
async function pathInside(
  folder: string,
  name: string,
): Promise<{ file: string; bytes: number } | { problem: string }> {
  const path = await realpath(join(folder, name)).catch(() => null);
  if (path === null) return { problem: "is a link that leads nowhere." };
  const file = relative(folder, path);
  if (file.startsWith(`..${sep}`) || file === "..")
    return { problem: "is outside of the folder. Move the file into the folder." };
  const found = await stat(path);
  // Reading a pipe would wait for ever.
  return found.isFile() ? { file, bytes: found.size } : { problem: "is not a regular file." };
}

/** Reads the files of the tokens, each once. Faults become problems. @returns the tokens whose files can be used */
async function withMedia(folder: string, contents: FolderContents, typeOf: DropChecks["typeOf"]): Promise<DropToken[]> {
  const known = new Map<string, Awaited<ReturnType<typeof readMedia>>>();
  const tokens: DropToken[] = [];
  for (const token of contents.tokens) {
    const media: DropToken["media"] = {};
    const problems: string[] = [];
    for (const [field, name] of Object.entries(token.files) as [MediaField, string][]) {
      const read = known.get(name) ?? (await readMedia(folder, name, typeOf));
      known.set(name, read);
      if ("problem" in read) problems.push(`${field}: ${name} ${read.problem}`);
      else if (read.type === null) media[field] = read.media;
      else {
        const fault = faultOfMedia(field, { type: read.type, size: read.media.bytes });
        if (fault === null) media[field] = read.media;
        else problems.push(`${field}: ${name} is ${fault}.`);
      }
    }
    contents.problems.push(...problems.map((message) => ({ source: token.source, message })));
    if (problems.length === 0) tokens.push({ ...token, media });
  }
  return tokens;
}

async function readMedia(
  folder: string,
  name: string,
  typeOf: DropChecks["typeOf"],
): Promise<{ media: MediaFile; type: string | null } | { problem: string }> {
  const path = await pathInside(folder, name);
  if ("problem" in path) return path;
  const { file, bytes } = path;
  if (bytes === 0) return { problem: "is empty." };
  if (bytes > LIMITS.mediaBytes)
    return { problem: `has ${bytes.toString()} bytes. At most ${LIMITS.mediaBytes.toString()} are allowed.` };
  const blob = await openAsBlob(join(folder, file));
  const type = typeOf === undefined ? null : await typeOf(blob);
  return { media: { file, bytes, sha256: await sha256Of(blob) }, type };
}

/** Reads the blob as a stream. @throws when its file has changed since the blob was made. */
export async function sha256Of(blob: Blob): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of blob.stream() as unknown as AsyncIterable<Uint8Array>) hash.update(chunk);
  return hash.digest("hex");
}
