import { exporter, type UnixFSEntry } from "ipfs-unixfs-exporter";
import { importer, importFile } from "ipfs-unixfs-importer";
import type { CID } from "multiformats/cid";

import { type BlockFiles, BlockMissing } from "./block-files.ts";
import { linksOf } from "./cids.ts";
import { type Blockstore, type FileEntry, isFile, readFile } from "./read-file.ts";

/** How content becomes blocks: the profile on which implementations have agreed, so that the same bytes have the same CID everywhere. */
const PROFILE = { profile: "unixfs-v1-2025" } as const;
/** Blocks of 1 MiB under way at once: what bounds the memory. */
const WRITES = 1;
/** Small files of a directory under way at once: each waits for the disk. */
const SMALL_FILES = 32;

/** A file inside content, ready to be read. */
export interface ContentFile {
  cid: CID;
  size: number;
  /** The bytes from `offset` on, block by block, each checked. @throws BlockMissing, BlockCorrupt, MalformedContent */
  read(offset?: number, length?: number): AsyncIterable<Uint8Array>;
}

/** Where new blocks go. */
type BlockSink = Pick<BlockFiles, "put">;
/** Where blocks come from: each is surely the one that its CID names. */
export type BlockSource = Pick<BlockFiles, "get" | "has">;

/** Stores a stream of bytes as one file. @returns its CID and its length. */
export async function importContent(
  blocks: BlockSink,
  source: AsyncIterable<Uint8Array>,
): Promise<{ cid: CID; size: number }> {
  let size = 0;
  const counted = async function* () {
    for await (const chunk of source) {
      size += chunk.length;
      yield chunk;
    }
  };
  const { cid } = await importFile({ content: counted() }, sinkOf(blocks), {
    ...PROFILE,
    blockWriteConcurrency: WRITES,
  });
  return { cid, size };
}

/** Stores files as one directory. @returns its CID. */
export async function importDirectory(
  blocks: BlockSink,
  files: AsyncIterable<{ path: string; content: Uint8Array }>,
): Promise<CID> {
  let root: CID | null = null;
  const options = { ...PROFILE, wrapWithDirectory: true, fileImportConcurrency: SMALL_FILES, blockWriteConcurrency: 1 };
  // The directory itself comes last.
  for await (const entry of importer(files, sinkOf(blocks), options)) root = entry.cid;
  if (root === null) throw new Error("a directory without files has no CID");
  return root;
}

/**
 * Finds a file.
 * @param path inside the directory that the CID names; empty for the file that it names itself.
 * @param readAhead blocks that are read at once: what bounds the memory.
 * @returns null when there is none: the CID is not stored here, or is a directory, or has nothing under the path.
 * @throws BlockMissing, BlockCorrupt when a part of stored content cannot be read.
 */
export async function findFile(
  blocks: BlockSource,
  cid: CID,
  path: string,
  readAhead = 1,
): Promise<ContentFile | null> {
  if (!(await blocks.has(cid))) return null;
  const store = sourceOf(blocks);
  const names = path.split("/").filter((name) => name !== "");
  const last = names.pop();
  let entry = await walk(store, [cid.toString(), ...names].join("/"));
  // By itself the exporter takes no notice of one name too many behind a file.
  if (last !== undefined)
    entry = entry?.type === "directory" ? await walk(store, `${entry.cid.toString()}/${last}`) : null;
  return entry === null || !isFile(entry) ? null : fileOf(store, entry, readAhead);
}

async function walk(store: Blockstore, path: string): Promise<UnixFSEntry | null> {
  try {
    return await exporter(path, store);
  } catch (error) {
    if (error instanceof Error && ABSENT.includes(error.name)) return null;
    throw error;
  }
}

/** Names of the exporter's errors for a path that leads nowhere, and for blocks that are no UnixFS. */
const ABSENT = ["NotFoundError", "BadPathError", "NotUnixFSError", "NoResolverError", "NoPropError"];

function fileOf(store: Blockstore, entry: FileEntry, readAhead: number): ContentFile {
  const size = Number(entry.size);
  return {
    cid: entry.cid,
    size,
    read: (offset = 0, length = size - offset) =>
      readFile(store, entry, { start: offset, end: offset + length }, readAhead),
  };
}

/**
 * Every block of some content, the root first, each once.
 * @param seen blocks that were walked before; those found now are added.
 * @throws BlockMissing, BlockCorrupt unless `onDamage` takes the error; what is below such a block is then not seen.
 */
export async function* walkBlocks(
  blocks: Pick<BlockFiles, "get">,
  root: CID,
  seen: { has(cid: string): boolean; add(cid: string): unknown },
  onDamage?: (error: unknown) => void,
): AsyncGenerator<{ cid: CID; bytes: Uint8Array }> {
  const ahead = [root];
  for (let cid = ahead.pop(); cid !== undefined; cid = ahead.pop()) {
    const name = cid.toV1().toString();
    if (seen.has(name)) continue;
    seen.add(name);
    let bytes: Uint8Array;
    try {
      bytes = await blocks.get(cid);
    } catch (error) {
      if (onDamage === undefined) throw error;
      onDamage(error);
      continue;
    }
    yield { cid, bytes };
    ahead.push(...linksOf(cid, bytes).reverse());
  }
}

/** The block files as the importer wants them. */
function sinkOf(blocks: BlockSink): Parameters<typeof importer>[1] {
  return {
    put: async (cid, bytes) => {
      await blocks.put(cid, await whole(bytes));
      return cid;
    },
  };
}

/** The block files as the exporter wants them. */
function sourceOf(blocks: BlockSource): Blockstore {
  return {
    async *get(cid) {
      yield await blocks.get(cid);
    },
  };
}

async function whole(bytes: Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  if (bytes instanceof Uint8Array) return bytes;
  const parts: Uint8Array[] = [];
  for await (const part of bytes) parts.push(part);
  return Buffer.concat(parts);
}

/** Whether a missing or corrupt block is to blame. */
export function isDamage(error: unknown): boolean {
  return error instanceof BlockMissing || (error instanceof Error && error.name === "BlockCorrupt");
}
