import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";

import type { CID } from "multiformats/cid";

import { canonicalCid, parseCid } from "../../content/cids.ts";
import { isAbsent } from "../../content/block-files.ts";
import { type Digest, hashFile, NotRegular, readRegular } from "../../shared/hashed-files.ts";
import { OperatorError } from "../operator-error.ts";
import { BLOCK_LIST, type Manifest } from "./manifest.ts";

/** A backup that is being restored. */
export interface Backup {
  folder: string;
  manifest: Manifest;
}

/** An error that names the part of the backup. */
export function damaged(folder: string, part: string, why: string): OperatorError {
  return new OperatorError(`The backup ${folder} is damaged: ${part} ${why}. Use another backup.`);
}

/** Reads a part of a backup to its end. @throws OperatorError when it is not the one of the manifest. */
export async function requirePart(folder: string, part: string, expected: Digest): Promise<void> {
  requireSame(folder, part, expected, await explained(folder, part, () => hashFile(join(folder, part))));
}

/** @throws OperatorError */
export function requireSame(folder: string, part: string, expected: Digest, found: Digest): void {
  if (found.bytes !== expected.bytes)
    throw damaged(folder, part, `has ${found.bytes.toString()} bytes instead of ${expected.bytes.toString()}`);
  if (found.sha256 !== expected.sha256) throw damaged(folder, part, "has another SHA-256 than the manifest says");
}

/** Explains why a part cannot be read. */
export async function explained<T>(folder: string, part: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isAbsent(error)) throw damaged(folder, part, "is missing");
    const isLink = (error as NodeJS.ErrnoException).code === "ELOOP";
    if (isLink || error instanceof NotRegular) throw damaged(folder, part, "is not a regular file");
    throw error;
  }
}

/** The blocks of a backup. The list itself must have been checked. */
export async function* listedBlocks(folder: string, list: NonNullable<Manifest["media"]["list"]>): AsyncGenerator<CID> {
  let blocks = 0;
  for await (const line of createInterface({ input: Readable.from(readRegular(join(folder, BLOCK_LIST))) })) {
    const cid = parseCid(line);
    if (cid === null || canonicalCid(cid) !== line) throw damaged(folder, BLOCK_LIST, "has a line that is no CID");
    blocks += 1;
    yield cid;
  }
  if (blocks !== list.blocks) throw damaged(folder, BLOCK_LIST, "has another number of lines than the manifest says");
}
