import { type Folder, type FolderContents, readFolder } from "../../client/drop/folder.ts";
import { FolderProblem, MOST_TEXT, textNames } from "../../client/drop/layout.ts";
import { byNumber, DEPTH } from "../../client/drop/names.ts";
import { textOfBytes } from "../../client/drop/text.ts";

/** Files by their names relative to the folder, with "/". A file is read only when its content is needed. */
export type Files = ReadonlyMap<string, File>;

/** Files that a person has chosen, with the texts of those that may describe tokens. */
export interface Chosen {
  files: Files;
  texts: ReadonlyMap<string, { text: string } | { problem: string }>;
}

export const NOTHING: Chosen = { files: new Map(), texts: new Map() };

/** The files of an `<input type="file">`. Its folder's own name is left out. */
export function filesOfInput(list: FileList | null): Files {
  return withinDepth(
    [...(list ?? [])].map((file) => {
      const path = file.webkitRelativePath;
      return [path === "" ? file.name : path.slice(path.indexOf("/") + 1), file];
    }),
  );
}

/** The files of what was dropped on the page: files, or folders. A folder that was dropped alone is the whole. */
export async function filesOfDrop({ items, files }: DataTransfer): Promise<Files> {
  // After the event, the list is empty.
  const entries = [...items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  if (entries.length === 0) return withinDepth([...files].map((file) => [file.name, file]));
  const [only] = entries;
  const isFolder = entries.length === 1 && only?.isDirectory === true;
  return withinDepth(isFolder ? await filesIn(only, "", 0) : await filesOf(entries, "", 1));
}

function withinDepth(found: readonly (readonly [string, File])[]): Files {
  return new Map(found.filter(([name]) => name.split("/").length <= DEPTH).sort(([a], [b]) => byNumber(a, b)));
}

async function filesOf(entries: readonly FileSystemEntry[], below: string, depth: number): Promise<[string, File][]> {
  const found: [string, File][] = [];
  for (const entry of entries) {
    if (entry.isDirectory) found.push(...(await filesIn(entry, `${below}${entry.name}/`, depth)));
    else {
      const file = await new Promise<File>((resolve, reject) => {
        (entry as FileSystemFileEntry).file(resolve, reject);
      });
      found.push([below + entry.name, file]);
    }
  }
  return found;
}

async function filesIn(folder: FileSystemEntry, below: string, depth: number): Promise<[string, File][]> {
  if (depth >= DEPTH) return [];
  const reader = (folder as FileSystemDirectoryEntry).createReader();
  const found: [string, File][] = [];
  for (;;) {
    // Browsers give some of the entries at a time, and at the end none.
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject);
    });
    if (entries.length === 0) return found;
    found.push(...(await filesOf(entries, below, depth + 1)));
  }
}

/** Reads the texts. @throws Error when they are too large */
export async function readTexts(files: Files): Promise<Chosen> {
  const names = textNames([...files.keys()]);
  const bytes = names.reduce((sum, name) => sum + (files.get(name)?.size ?? 0), 0);
  if (bytes > MOST_TEXT.bytes) throw new Error(MOST_TEXT.message);
  const texts = new Map<string, { text: string } | { problem: string }>();
  for (const name of names) {
    const content = await files.get(name)?.arrayBuffer();
    if (content !== undefined) texts.set(name, textOfBytes(new Uint8Array(content)));
  }
  return { files, texts };
}

/** What the chosen files say, read as the command `drop` does. */
export function contentsOf({ files, texts }: Chosen, type: Folder["type"]): FolderContents {
  const folder: Folder = {
    names: [...files.keys()],
    textOf: (name) => texts.get(name) ?? { problem: "The file was not read." },
    type,
    pictureless: true,
  };
  try {
    const contents = readFolder(folder);
    if (contents.tokens.length > 0 || contents.problems.length > 0) return contents;
    throw new FolderProblem("The files describe no token.");
  } catch (error) {
    if (!(error instanceof FolderProblem)) throw error;
    const problems = [{ source: "The files", message: error.message }];
    return { tokens: [], problems, notes: [], ignored: new Set(), pictures: false };
  }
}
