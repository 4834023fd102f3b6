import { createHash } from "node:crypto";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { z } from "zod";

import { isAbsent } from "../shared/folder.ts";
import { type Digest, hashFile, NotRegular, readRegular } from "../shared/hashed-files.ts";
import { parseJson } from "../shared/text.ts";
import { writeNewFile } from "../shared/write-new-file.ts";
import { OperatorError } from "./operator-error.ts";

/** What a folder with a manifest is, and how sentences name it. */
export type FolderKind = keyof typeof KINDS;
const KINDS = { backup: { one: "a backup", use: "Restore" }, export: { one: "an export", use: "Import" } } as const;

const MANIFEST = "manifest.json";

/** How the parts of a folder are checked. */
export function partsOf(kind: FolderKind) {
  /** An error that names the part. */
  const damaged = (folder: string, part: string, why: string) =>
    new OperatorError(`The ${kind} ${folder} is damaged: ${part} ${why}. Use another ${kind}.`);

  /** @throws OperatorError */
  const requireSame = (folder: string, part: string, expected: Digest, found: Digest): void => {
    if (found.bytes !== expected.bytes)
      throw damaged(folder, part, `has ${found.bytes.toString()} bytes instead of ${expected.bytes.toString()}`);
    if (found.sha256 !== expected.sha256) throw damaged(folder, part, "has another SHA-256 than the manifest says");
  };

  /** Explains why a part cannot be read. */
  const explained = async <T>(folder: string, part: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (isAbsent(error)) throw damaged(folder, part, "is missing");
      const isLink = (error as NodeJS.ErrnoException).code === "ELOOP";
      if (isLink || error instanceof NotRegular) throw damaged(folder, part, "is not a regular file");
      throw error;
    }
  };

  /** Reads a part to its end. @throws OperatorError when it is not the one of the manifest. */
  const requirePart = async (folder: string, part: string, expected: Digest): Promise<void> => {
    requireSame(folder, part, expected, await explained(folder, part, () => hashFile(join(folder, part))));
  };

  return { damaged, requireSame, explained, requirePart };
}

/** Writes the manifest, with a digest of itself: from now on the folder is complete. */
export async function writeSealed(folder: string, kind: FolderKind, manifest: object): Promise<void> {
  const body = { [kind]: manifest, sha256: digest(manifest) };
  if (await writeNewFile(join(folder, MANIFEST), `${JSON.stringify(body, null, 2)}\n`)) return;
  throw new OperatorError(`Another ${kind} was written to ${folder} at the same time. Use an empty folder for each.`);
}

/** @throws OperatorError when the folder is not complete, or has a form that this version cannot read. */
export async function readSealed<T>(
  folder: string,
  kind: FolderKind,
  newest: number,
  content: z.ZodType<T>,
): Promise<T> {
  const file = join(folder, MANIFEST);
  const { one, use } = KINDS[kind];
  try {
    await lstat(file);
  } catch (error) {
    if (!isAbsent(error)) throw error;
    throw new OperatorError(
      `${folder} is not ${one}: it has no ${MANIFEST}. The manifest is written last, so the ${kind} was not finished. Use another one.`,
    );
  }
  const damaged = new OperatorError(`${file} is damaged. Use another ${kind}. Nothing was changed.`);
  const sealed = z.strictObject({ [kind]: z.looseObject({ format: z.int().nonnegative() }), sha256: z.string() });
  const parsed = sealed.safeParse(parseJson(await text(readRegular(file))));
  const manifest = parsed.data?.[kind] as { format: number } | undefined;
  if (!parsed.success || manifest === undefined || digest(manifest) !== parsed.data["sha256"]) throw damaged;
  if (manifest.format > newest) {
    throw new OperatorError(
      `The ${kind} ${folder} was made by a newer version of Moneta (format ${manifest.format.toString()}). ${use} it with that version.`,
    );
  }
  const read = content.safeParse(manifest);
  if (!read.success) throw damaged;
  return read.data;
}

function digest(manifest: object): string {
  return createHash("sha256").update(JSON.stringify(manifest)).digest("hex");
}
