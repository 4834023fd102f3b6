import type { exporter, UnixFSEntry } from "ipfs-unixfs-exporter";
import type { CID } from "multiformats/cid";

/** Levels of nodes above the leaves. A file of 200 GiB has four. */
const MAX_DEPTH = 64;

/** Where the exporter reads blocks from. */
export type Blockstore = Parameters<typeof exporter>[1];
export type FileEntry = Extract<UnixFSEntry, { type: "file" | "raw" }>;

/** Loaded with the first content that is read: it has many modules, and a start needs none of them. */
export function loadExporter() {
  return import("ipfs-unixfs-exporter");
}

/** Thrown when the blocks match their CIDs but do not form a valid file. */
class MalformedContent extends Error {
  override readonly name = "MalformedContent";
}

/** Whether an entry is a file, not a directory or a link. */
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
 * Reads a file from `start` to `end`. `load` reads its parts. At most `readAhead` blocks are in memory, however slow the consumer is. (The exporter's
 * own reader has no such backpressure.) The sizes that each node declares for its children are checked.
 * @throws MalformedContent
 */
export async function* readFileBytes(
  load: (cid: CID) => Promise<FileEntry>,
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
      const loading = load(cid);
      // The `await` below reports a failure. Nobody awaits it once the consumer has stopped.
      loading.catch(() => undefined);
      ahead.push(loading);
    }
    const below = await ahead.shift();
    if (below === undefined || Number(below.size) !== child.end - child.start) {
      throw new MalformedContent("a part of the file is not as long as the file says");
    }
    const section = { start: Math.max(start - child.start, 0), end: Math.min(end, child.end) - child.start };
    yield* readFileBytes(load, below, section, readAhead, depth + 1);
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

/** Reads a part of a file. @throws MalformedContent */
export async function loadPart(blocks: Blockstore, cid: CID): Promise<FileEntry> {
  const { exporter } = await loadExporter();
  const entry = await exporter(cid, blocks);
  if (!isFile(entry)) throw new MalformedContent("a part of the file is not a file");
  return entry;
}
