import { createHash } from "node:crypto";
import { openAsBlob } from "node:fs";
import { readFile, realpath, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";

import { DEFAULT_LIMITS } from "../../config/limits.ts";
import { SNIFF_BYTES, sniffMediaType } from "../../content/media-type.ts";
import { textOfBytes } from "../../../client/drop/text.ts";
import type { MediaField } from "../../../client/drop/values.ts";
import type { MediaFile } from "./folder.ts";

const SHOWN = /^(image|video|audio|model)\//;

/** Reads the media files of a folder. A file that several tokens use is read once. */
export class MediaFiles {
  readonly #folder: string;
  readonly #known = new Map<string, Promise<MediaFile>>();

  /** @param folder its real path. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @param name relative to the folder. @throws FileProblem */
  async find(name: string, field: MediaField): Promise<MediaFile> {
    const path = await realpath(join(this.#folder, name)).catch(() => null);
    if (path === null) throw new FileProblem(`${name} is a link that leads nowhere.`);
    const file = insideOf(this.#folder, path);
    if (file === null) throw new FileProblem(`${name} is outside of the folder. Move the file into the folder.`);
    return this.#read(file, field);
  }

  async #read(file: string, field: MediaField): Promise<MediaFile> {
    let reading = this.#known.get(file);
    if (reading === undefined) {
      reading = readMedia(this.#folder, file);
      this.#known.set(file, reading);
    }
    const media = await reading;
    if (field === "image" && !SHOWN.test(media.type)) {
      throw new FileProblem(`${file} is not a picture, video, sound or model. Its content is ${media.type}.`);
    }
    return media;
  }
}

async function readMedia(folder: string, file: string): Promise<MediaFile> {
  const path = join(folder, file);
  const found = await stat(path);
  if (!found.isFile()) throw new FileProblem(`${file} is not a file.`);
  const { size } = found;
  if (size === 0) throw new FileProblem(`${file} is empty.`);
  if (size > DEFAULT_LIMITS.mediaBytes) {
    throw new FileProblem(
      `${file} has ${size.toString()} bytes. At most ${DEFAULT_LIMITS.mediaBytes.toString()} are allowed.`,
    );
  }
  const blob = await openAsBlob(path);
  const head = new Uint8Array(await blob.slice(0, SNIFF_BYTES).arrayBuffer());
  const [type = ""] = (await sniffMediaType(head)).split(";");
  return { file, type, bytes: size, sha256: await sha256Of(blob) };
}

/** Reads the blob as a stream. @throws when its file has changed since the blob was made. */
export async function sha256Of(blob: Blob): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of blob.stream() as AsyncIterable<Uint8Array>) hash.update(chunk);
  return hash.digest("hex");
}

/** Thrown with a sentence for the user when a file cannot be used. */
export class FileProblem extends Error {
  override readonly name = "FileProblem";
}

/**
 * Metadata from others must not publish files of this machine, also not through a link.
 * @param folder its real path. @param path its real path. @returns the path relative to the folder, or null when it is outside.
 */
function insideOf(folder: string, path: string): string | null {
  const file = relative(folder, path);
  return file.startsWith(`..${sep}`) || file === ".." ? null : file;
}

/** Reads a text of the folder. @param folder its real path. */
export async function readTextInside(folder: string, file: string): Promise<{ text: string } | { problem: string }> {
  const path = await realpath(join(folder, file)).catch(() => null);
  if (path === null) return { problem: "The file is a link that leads nowhere." };
  if (insideOf(folder, path) === null) {
    return { problem: "The file is outside of the folder. Move it into the folder." };
  }
  // Reading a pipe would wait for ever.
  if (!(await stat(path)).isFile()) return { problem: "This is not a file." };
  return textOfBytes(await readFile(path));
}
