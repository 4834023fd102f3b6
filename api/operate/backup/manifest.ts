import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";

import type { CID } from "multiformats/cid";
import { z } from "zod";

import { canonicalCid, parseCid } from "../../content/cids.ts";
import { readRegular } from "../../shared/hashed-files.ts";
import { partsOf, readSealed, writeSealed } from "../sealed-folder.ts";

/** A backup that is being restored. */
export interface Backup {
  folder: string;
  manifest: Manifest;
}

export const { damaged, explained, requirePart, requireSame } = partsOf("backup");

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
  /** Keys of wallets that were made elsewhere, with the fingerprint of what they are encrypted to. Absent: from an earlier version. */
  imported_keys: z.strictObject({ count, newest: count, import_key: z.string().nullable() }).optional(),
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

/** Writes the manifest: from now on the folder is a backup. */
export function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  return writeSealed(folder, "backup", manifest);
}

/** @throws OperatorError when the folder is not a backup, or one that this version cannot read. */
export async function readManifest(folder: string): Promise<Manifest> {
  return readSealed(folder, "backup", FORMAT, content);
}

export function createdNow(): Pick<Manifest, "format" | "created_at"> {
  return { format: FORMAT, created_at: new Date().toISOString() };
}
