import { z } from "zod";

import { parseCid } from "../../content/cids.ts";
import { partsOf, readSealed, writeSealed } from "../sealed-folder.ts";

/** The form of an export. A newer form gets a higher number. */
export const FORMAT = 1;

/** The files with one JSON object in each line, in the order in which they are written. */
export const ROW_FILES = ["wallets", "collections", "tokens", "holders", "history", "requests", "events"] as const;
export type RowFile = (typeof ROW_FILES)[number];
/** Written when it is asked for. */
export const UNLOCKABLE = "unlockable.ndjson";
/** One line for each file in the folder `media`. */
export const MEDIA_LIST = "media.ndjson";
export const MEDIA = "media";
export const BLOCKS = "blocks";

const count = z.int().nonnegative();
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
/** `rows`: its lines, all as of this block. */
const file = z.strictObject({ rows: count, bytes: count, sha256, block: z.int() });
const names = z.enum([...ROW_FILES.map((name) => `${name}.ndjson` as const), UNLOCKABLE, MEDIA_LIST]);

const content = z.strictObject({
  format: z.literal(FORMAT),
  /** Version of Moneta that made the export. */
  moneta: z.string(),
  created_at: z.iso.datetime(),
  app: z.strictObject({ id: z.string(), name: z.string() }),
  chain: z.strictObject({ id: z.string(), genesis: z.string() }),
  /** Where the service served metadata and media. */
  public_url: z.string(),
  files: z.partialRecord(names, file),
  /** Tokens whose unlockable content was not asked for, and content that the service does not have any more. */
  left_out: z.strictObject({ unlockable: count, media: count }),
});

/** What an export contains. Every file has its SHA-256; those in `media` have it in `media.ndjson`. */
export type ExportManifest = z.output<typeof content>;

export const parts = partsOf("export");

export function writeManifest(folder: string, manifest: ExportManifest): Promise<void> {
  return writeSealed(folder, "export", manifest);
}

/** @throws OperatorError when the folder is not an export, or one that this version cannot read. */
export function readManifest(folder: string): Promise<ExportManifest> {
  return readSealed(folder, "export", FORMAT, content);
}

/** A line of `media.ndjson`. */
export const mediaRow = z.strictObject({
  cid: z.string().refine((text) => parseCid(text)?.toString() === text),
  /** Media type; null: a directory with frozen metadata. */
  type: z.string().nullable(),
  /** Bytes of the file; null: a directory. */
  size: count.nullable(),
  /** The plain file, which is in `media` only; null: it is a directory, or the service has lost it. */
  file: z.string().regex(/^media\/[a-z0-9]+\.[a-z0-9]+$/).nullable(), // prettier-ignore
  sha256: sha256.nullable(),
  /** Whether the folder `blocks` has its blocks, because the plain file would get another CID. */
  blocks: z.boolean(),
});
export type MediaRow = z.output<typeof mediaRow>;
