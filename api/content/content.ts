import type { UnixFSEntry } from "ipfs-unixfs-exporter";
import type { importer } from "ipfs-unixfs-importer";
import type { CID } from "multiformats/cid";

import { BlockCorrupt, BlockMissing, type BlockStore } from "./block-store.ts";
import { canonicalCid, hasLinks, linksOf } from "./cids.ts";
import { TypeSniffer } from "./media-type.ts";
import { type Blockstore, type FileEntry, isFile, loadExporter, loadPart, readFileBytes } from "./read-file.ts";

/** A file in the block store. */
export interface StoredFile {
  cid: string;
  /** Media type, detected from the first bytes. */
  type: string;
  size: number;
}

/**
 * Stores a stream of bytes as one file. It is never in memory as a whole.
 * @param check sees the file before its blocks become a part of the store. When it throws, nothing is stored.
 * @param expected bytes for which room is reserved on the disk before the first one is read.
 */
export async function storeFile(
  blocks: BlockStore,
  source: AsyncIterable<Uint8Array>,
  check: (file: StoredFile) => void | Promise<void> = () => undefined,
  expected = 0,
): Promise<StoredFile> {
  const sniffer = new TypeSniffer();
  const observed = async function* () {
    for await (const chunk of source) {
      sniffer.take(chunk);
      yield chunk;
    }
  };
  // When the stream breaks off or is too large, nothing of it stays on the disk.
  const draft = blocks.draft();
  // The only block of a small file needs no draft: it is in memory until it is checked.
  const small: { cid: CID; bytes: Uint8Array }[] = [];
  let count = 0;
  const put = async (cid: CID, bytes: Uint8Array) => {
    small.push({ cid, bytes });
    if (++count === 1 && bytes.length < BLOCK) return;
    // A block that is stored already is not written a second time.
    for (const one of small.splice(0)) await ((await blocks.has(one.cid)) ? blocks : draft).put(one.cid, one.bytes);
  };
  try {
    if (expected > 0) await draft.expect(expected);
    const { cid, size } = await importContent({ put }, observed());
    const file = { cid: canonicalCid(cid), type: await sniffer.type(), size };
    await check(file);
    await (small.length === 0 ? blocks.adopt(draft) : draft.drop());
    for (const { cid: only, bytes } of small) await blocks.put(only, bytes);
    return file;
  } catch (error) {
    await draft.drop();
    throw error;
  }
}

/** How content is split into blocks. Implementations share this profile, so the same bytes get the same CID everywhere. */
const PROFILE = { profile: "unixfs-v1-2025" } as const;
/** Bytes of all blocks of a file but the last one. */
const BLOCK = 1_048_576;
/** Blocks that are written at once. This limits the memory. */
const WRITES = 1;
/** Small files of a directory that are written at once. More than one, because each waits for the disk. */
const SMALL_FILES = 32;

/** A stored file. */
export interface ContentFile {
  cid: CID;
  size: number;
  /** Reads from `offset` on, block by block. Each block is checked against its CID. @throws BlockMissing, BlockCorrupt, MalformedContent */
  read(offset?: number, length?: number): AsyncIterable<Uint8Array>;
}

/** Where new blocks go. */
type BlockSink = Pick<BlockStore, "put">;
/** Where blocks are read from. Each is checked against its CID. */
export type BlockSource = Pick<BlockStore, "get" | "has">;

/** Loaded with the first content that is stored: it has many modules, and a start needs none of them. */
function loadImporter() {
  return import("ipfs-unixfs-importer");
}

/** Stores a stream of bytes as one file. @returns its CID and its length. */
export async function importContent(
  blocks: BlockSink,
  source: AsyncIterable<Uint8Array>,
): Promise<{ cid: CID; size: number }> {
  const { importFile } = await loadImporter();
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
  const { importer } = await loadImporter();
  let root: CID | null = null;
  const options = { ...PROFILE, wrapWithDirectory: true, fileImportConcurrency: SMALL_FILES, blockWriteConcurrency: 1 };
  // The importer yields the directory last.
  for await (const entry of importer(files, sinkOf(blocks), options)) root = entry.cid;
  if (root === null) throw new Error("a directory without files has no CID");
  return root;
}

/**
 * Finds a file.
 * @param path inside the directory with this CID; empty when the CID is that of a file.
 * @param readAhead blocks that are read at once. This limits the memory.
 * @returns null when the CID is not stored here, or the path does not lead to a file.
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
  // The exporter ignores a name after a file, so the last name is looked up only in a directory.
  if (last !== undefined)
    entry = entry?.type === "directory" ? await walk(store, `${entry.cid.toString()}/${last}`) : null;
  return entry === null || !isFile(entry) ? null : fileOf(store, entry, readAhead);
}

/** @returns null when the path does not exist. */
export async function walk(store: Blockstore, path: string): Promise<UnixFSEntry | null> {
  try {
    const { exporter } = await loadExporter();
    return await exporter(path, store);
  } catch (error) {
    if (error instanceof Error && ABSENT.includes(error.name)) return null;
    throw error;
  }
}

/** Names of the exporter's errors for a path that does not exist, and for blocks that are not UnixFS. */
const ABSENT = ["NotFoundError", "BadPathError", "NotUnixFSError", "NoResolverError", "NoPropError"];

function fileOf(store: Blockstore, entry: FileEntry, readAhead: number): ContentFile {
  const size = Number(entry.size);
  return {
    cid: entry.cid,
    size,
    read: (offset = 0, length = size - offset) =>
      readFileBytes((cid) => loadPart(store, cid), entry, { start: offset, end: offset + length }, readAhead),
  };
}

/**
 * Every block of some content, each once, the root first.
 * @param seen blocks to skip. Each block that is found is added.
 * @param onDamage called with each BlockMissing and BlockCorrupt. The blocks below such a block are skipped.
 * @throws BlockMissing, BlockCorrupt without `onDamage`
 */
export async function* walkBlocks(
  blocks: Pick<BlockStore, "get">,
  root: CID,
  seen: { has(cid: string): boolean; add(cid: string): unknown },
  onDamage?: (error: unknown) => void,
): AsyncGenerator<{ cid: CID; bytes: Uint8Array }> {
  const ahead = [root];
  for (let cid = ahead.pop(); cid !== undefined; cid = ahead.pop()) {
    const name = canonicalCid(cid);
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

/**
 * Adds the names of all blocks of some content to `seen`. Only blocks that link to others are read; of the rest, only the
 * existence is checked.
 * @throws BlockMissing, BlockCorrupt
 */
export async function findBlocks(blocks: BlockSource, root: CID, seen: Set<string>): Promise<void> {
  const get = async (cid: CID) => {
    if (hasLinks(cid)) return blocks.get(cid);
    if (!(await blocks.has(cid))) throw new BlockMissing(cid);
    return new Uint8Array();
  };
  for await (const _block of walkBlocks({ get }, root, seen));
}

/** Adapts the block store to the importer. */
function sinkOf(blocks: BlockSink): Parameters<typeof importer>[1] {
  return {
    put: async (cid, bytes) => {
      await blocks.put(cid, await whole(bytes));
      return cid;
    },
  };
}

/** Adapts the block store to the exporter. */
export function sourceOf(blocks: BlockSource): Blockstore {
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

/** Whether the error means that a block is missing or corrupt. */
export function isDamage(error: unknown): error is BlockMissing | BlockCorrupt {
  return error instanceof BlockMissing || error instanceof BlockCorrupt;
}
