import { exporter, type UnixFSEntry } from "ipfs-unixfs-exporter";
import type { CID } from "multiformats/cid";

/** Nodes above a leaf. A file of 200 GiB has four. */
const MAX_DEPTH = 64;

/** Where blocks come from, as the exporter wants them. */
export type Blockstore = Parameters<typeof exporter>[1];
export type FileEntry = Extract<UnixFSEntry, { type: "file" | "raw" }>;

/** Every block is what its name says, and yet together they are no file. */
export class MalformedContent extends Error {
  override readonly name = "MalformedContent";
}

/** Whether an entry is a file, and no directory, link or the like. */
export function isFile(entry: UnixFSEntry): entry is FileEntry {
  return entry.type === "raw" || (entry.type === "file" && FILE_TYPES.includes(entry.unixfs.type));
}

const FILE_TYPES = ["file", "raw"];

/** Part of a file. */
interface Section {
  start: number;
  /** Exclusive. */
  end: number;
}

/**
 * The bytes of a file from `start` to `end`, as fast as they are taken: no more than `readAhead` blocks are held, however
 * slow the reader. (The exporter's own reader does not wait for whoever takes the bytes.) What every node says of the sizes
 * below it is held against what is there.
 * @throws MalformedContent
 */
export async function* readFile(
  blocks: Blockstore,
  entry: FileEntry,
  { start, end }: Section,
  readAhead: number,
  depth = 0,
): AsyncGenerator<Uint8Array> {
  if (entry.type === "raw") {
    yield entry.node.subarray(start, end);
    return;
  }
  if (depth === MAX_DEPTH) throw new MalformedContent("the file has too many levels");
  const own = entry.unixfs.data ?? new Uint8Array();
  if (start < own.length) yield own.subarray(start, end);
  const children = childrenOf(entry, own.length).filter((child) => child.start < end && child.end > start);
  const ahead: Promise<FileEntry>[] = [];
  for (const [index, child] of children.entries()) {
    for (const { cid } of children.slice(index + ahead.length, index + readAhead)) {
      const loading = load(blocks, cid);
      // Whoever waits for it hears of it; nobody may, when the reader has gone.
      loading.catch(() => undefined);
      ahead.push(loading);
    }
    const below = await ahead.shift();
    if (below === undefined || Number(below.size) !== child.end - child.start) {
      throw new MalformedContent("a part of the file is not as long as the file says");
    }
    const section = { start: Math.max(start - child.start, 0), end: Math.min(end, child.end) - child.start };
    yield* readFile(blocks, below, section, readAhead, depth + 1);
  }
}

function childrenOf(entry: Extract<FileEntry, { type: "file" }>, offset: number): (Section & { cid: CID })[] {
  const { blockSizes } = entry.unixfs;
  if (blockSizes.length !== entry.node.Links.length) throw new MalformedContent("the file has parts without a size");
  let at = offset;
  return entry.node.Links.map((link, index) => {
    const size = Number(blockSizes[index] ?? 0n);
    if (size === 0) throw new MalformedContent("the file has empty parts");
    const child = { cid: link.Hash, start: at, end: at + size };
    at = child.end;
    return child;
  });
}

async function load(blocks: Blockstore, cid: CID): Promise<FileEntry> {
  const entry = await exporter(cid, blocks);
  if (!isFile(entry)) throw new MalformedContent("a part of the file is no file");
  return entry;
}
