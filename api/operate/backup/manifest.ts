import { createHash } from "node:crypto";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";

import type { CID } from "multiformats/cid";
import { z } from "zod";

import { canonicalCid, parseCid } from "../../content/cids.ts";
import { isAbsent } from "../../shared/folder.ts";
import { type Digest, hashFile, NotRegular, readRegular } from "../../shared/hashed-files.ts";
import { parseJson } from "../../shared/text.ts";
import { writeNewFile } from "../../shared/write-new-file.ts";
import { OperatorError } from "../operator-error.ts";

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
    if (cid === null || canonicalCid(cid) !== line) throw damaged(folder, BLOCK_LIST, "has a line that is not a CID");
    blocks += 1;
    yield cid;
  }
  if (blocks !== list.blocks) throw damaged(folder, BLOCK_LIST, "has another number of lines than the manifest says");
}

/** The form of a backup. A newer form gets a higher number. */
const FORMAT = 1;
const MANIFEST = "manifest.json";
/** The file with the CIDs of the blocks, one in each line. */
export const BLOCK_LIST = "blocks.txt";
/** The folder of the blocks. */
export const BLOCKS = "blocks";
/** The file of the database. */
export const DATABASE_FILES = { sqlite: "moneta.sqlite", postgres: "moneta.dump" } as const;

const count = z.number().int().nonnegative();
const part = { bytes: count, sha256: z.string().regex(/^[0-9a-f]{64}$/) };

const content = z.strictObject({
  format: z.literal(FORMAT),
  /** Version of Moneta that made the backup. */
  moneta: z.string(),
  created_at: z.iso.datetime(),
  engine: z.enum(["sqlite", "postgres"]),
  /** Version of the PostgreSQL server; null for SQLite. */
  server: z.string().nullable(),
  /** Migrations that the database has. */
  schema: z.array(z.string()).min(1),
  /** `block` is the last block whose events are stored. Null: the service was never started with the database. */
  chain: z.strictObject({ id: z.string(), genesis: z.string(), block: z.number().int() }).nullable(),
  database: z.strictObject({ ...part, rows: z.record(z.string(), count) }),
  media: z.strictObject({
    /** Where the service keeps hosted media; null: it has none yet. */
    store: z.string().nullable(),
    /** The list of the blocks in the backup; null when they are in the database or in a bucket. */
    list: z.strictObject({ ...part, blocks: count, block_bytes: count }).nullable(),
    /** Blocks that the database names and that the service did not have, or only damaged. */
    damaged: z.array(z.string()),
  }),
  /** `<chain id>.json` with the addresses of the contracts; null: there is no such file. */
  deployment: z.strictObject({ ...part, file: z.string().regex(/^\d{1,30}\.json$/) }).nullable(),
});

/** What a backup contains. Every part has its SHA-256. The names of the files are fixed, so none leads out of the folder. */
export type Manifest = z.output<typeof content>;

const sealed = z.strictObject({ backup: z.looseObject({ format: count }), sha256: z.string() });

/** Writes the manifest: from now on the folder is a backup. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const body = { backup: manifest, sha256: digest(manifest) };
  if (await writeNewFile(join(folder, MANIFEST), `${JSON.stringify(body, null, 2)}\n`)) return;
  throw new OperatorError(`Another backup was written to ${folder} at the same time. Use an empty folder for each.`);
}

/** @throws OperatorError when the folder is not a backup, or one that this version cannot read. */
export async function readManifest(folder: string): Promise<Manifest> {
  const file = join(folder, MANIFEST);
  try {
    await lstat(file);
  } catch (error) {
    if (!isAbsent(error)) throw error;
    throw new OperatorError(
      `${folder} is not a backup: it has no ${MANIFEST}. The manifest is written last, so the backup was not finished. Use another one.`,
    );
  }
  const damaged = new OperatorError(`${file} is damaged. Use another backup. Nothing was changed.`);
  const parsed = sealed.safeParse(parseJson(await text(readRegular(file))));
  if (!parsed.success || digest(parsed.data.backup) !== parsed.data.sha256) throw damaged;
  const { backup } = parsed.data;
  if (backup.format > FORMAT) {
    throw new OperatorError(
      `The backup ${folder} was made by a newer version of Moneta (format ${backup.format.toString()}). Restore it with that version.`,
    );
  }
  const manifest = content.safeParse(backup);
  if (!manifest.success) throw damaged;
  return manifest.data;
}

export function createdNow(): Pick<Manifest, "format" | "created_at"> {
  return { format: FORMAT, created_at: new Date().toISOString() };
}

function digest(manifest: object): string {
  return createHash("sha256").update(JSON.stringify(manifest)).digest("hex");
}
