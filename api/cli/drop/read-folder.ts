import { realpath } from "node:fs/promises";

import { OperatorError } from "../../operator/operator-error.ts";
import { readCsvLayout, TABLE } from "./csv-layout.ts";
import { readJsonLayout } from "./json-layout.ts";
import { imagesOf, namesOf } from "./layout.ts";
import { MediaFiles } from "./media-files.ts";
import type { FolderContents } from "./token.ts";

/** Reads and checks every file of the folder. */
export async function readFolder(path: string): Promise<FolderContents> {
  const folder = await realpath(path);
  const listing = { folder, files: new MediaFiles(folder), images: await imagesOf(folder) };
  const hasTable = (await namesOf(folder)).includes(TABLE);
  const hasJson = (await namesOf(`${folder}/json`)).length > 0;
  if (hasTable === hasJson) {
    const found = hasTable ? `both ${TABLE} and json/` : `neither ${TABLE} nor files in json/`;
    throw new OperatorError(`${path} has ${found}. Give the metadata in one of the two forms (docs/drops.md).`);
  }
  const contents = await (hasTable ? readCsvLayout(listing) : readJsonLayout(listing));
  if (contents.tokens.length === 0 && contents.problems.length === 0) {
    throw new OperatorError(`${path} describes no token.`);
  }
  return contents;
}
