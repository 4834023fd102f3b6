import { readdir } from "node:fs/promises";
import { join, parse } from "node:path";

import { FileProblem } from "./inside.ts";
import type { MediaFiles } from "./media-files.ts";
import { type FolderToken, isUri, type MediaField } from "./token.ts";

/** What is in the folder. */
export interface Listing {
  /** Its real path. */
  folder: string;
  files: MediaFiles;
  /** The files in images/ by their name without extension. */
  images: Map<string, string[]>;
}

/** Names of the files in a folder. None when the folder does not exist. */
export async function namesOf(folder: string): Promise<string[]> {
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
export function byNumber(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true }) || (a < b ? -1 : 1);
}

/** The files in images/ by their name without extension. */
export async function imagesOf(folder: string): Promise<Map<string, string[]>> {
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
export async function linkMedia(token: FolderToken, { listing, stem, places }: Place): Promise<string[]> {
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
