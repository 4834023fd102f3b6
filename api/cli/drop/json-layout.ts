import { join } from "node:path";

import { FileProblem, readTextInside } from "./inside.ts";
import { byNumber, linkMedia, type Listing, namesOf } from "./layout.ts";
import { checkMetadata, readTokenId } from "./metadata.ts";
import type { FolderContents } from "./token.ts";

/** Reads `json/1.json` with `images/1.png`. */
export async function readJsonLayout(listing: Listing): Promise<FolderContents> {
  const contents: FolderContents = { tokens: [], problems: [], ignored: new Set() };
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
