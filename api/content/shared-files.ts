import type { UnixFSEntry } from "ipfs-unixfs-exporter";
import type { CID } from "multiformats/cid";

import { BoundedMap } from "../shared/bounded-map.ts";
import { canonicalCid } from "./cids.ts";
import { type BlockSource, type ContentFile, findFile, sourceOf, walk } from "./content.ts";
import { isFile, loadPart, readFileBytes } from "./read-file.ts";

/** Bytes that a reader gets at a time. It is all that a slow reader keeps in memory. */
export const SLICE = 65_536;
/** Bytes of blocks that are kept for the next readers: at least this many, and at most twice as many. */
const KEPT = 32 * 2 ** 20;
/** Blocks that are read at the same time. Each has at most 2 MiB. */
const LOADS = 16;
/** Bytes in memory of a block, and of a link in it to another block, besides the bytes of the file. */
const OVERHEAD = { block: 1_000, link: 500 };

/** A block, decoded. */
interface Kept {
  readonly entry: Promise<UnixFSEntry | null>;
  /** Bytes in memory; 0 until it is read. */
  readonly size: number;
}

/**
 * Files that many callers read at the same time, some of them slowly. Readers share the blocks that were used last, and no
 * reader keeps a block while its caller takes what it was given: it gets a copy of a slice, and looks the block up again for the
 * next one. So the memory does not grow with the size of blocks times the number of readers.
 */
export class SharedFiles {
  readonly #blocks: BlockSource;
  readonly #kept = new BoundedMap<string, Kept>(KEPT, ({ size }) => size);
  #loading = 0;
  readonly #waiting: (() => void)[] = [];
  /** Readers whose next slice waits for a turn of the event loop. */
  readonly #ready: (() => void)[] = [];

  constructor(blocks: BlockSource) {
    this.#blocks = {
      has: (cid) => blocks.has(cid),
      get: (cid) => this.#inTurn(() => blocks.get(cid)),
    };
  }

  /** As `findFile`. */
  async find(cid: CID, path: string): Promise<ContentFile | null> {
    if (path !== "") {
      const file = await findFile(this.#blocks, cid, path);
      return file === null ? null : this.#fileOf(file);
    }
    if (!(await this.#blocks.has(cid))) return null;
    const entry = await this.#entryAt(cid);
    return entry === null || !isFile(entry) ? null : this.#fileOf({ cid: entry.cid, size: Number(entry.size) });
  }

  #fileOf({ cid, size }: { cid: CID; size: number }): ContentFile {
    return { cid, size, read: (offset = 0, length = size - offset) => this.#slices(cid, offset, offset + length) };
  }

  async *#slices(cid: CID, start: number, end: number): AsyncGenerator<Uint8Array> {
    // At multiples of their size, so that slices of the usual blocks need one block each.
    for (let at = start, next = 0; at < end; at = next) {
      next = Math.min(at - (at % SLICE) + SLICE, end);
      await this.#turn();
      yield await this.#slice(cid, at, next);
    }
  }

  /**
   * Waits for a turn of the event loop, which gives one slice. A socket takes some MiB at once before its reader must wait, and hundreds of
   * readers may begin together: other calls are served in between.
   */
  #turn(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#ready.push(resolve) === 1) setImmediate(this.#giveSlice);
    });
  }

  readonly #giveSlice = (): void => {
    this.#ready.shift()?.();
    if (this.#ready.length > 0) setImmediate(this.#giveSlice);
  };

  async #slice(cid: CID, start: number, end: number): Promise<Uint8Array> {
    const load = (part: CID) => this.#partAt(part);
    const parts: Uint8Array[] = [];
    for await (const part of readFileBytes(load, await load(cid), { start, end }, 1)) parts.push(part);
    // A copy: the blocks can leave the memory.
    return Buffer.concat(parts);
  }

  /** A block of a file that was found before. @throws MalformedContent, BlockMissing, BlockCorrupt */
  async #partAt(cid: CID) {
    const entry = await this.#entryAt(cid);
    // For anything other than a block of a file, `loadPart` throws an error that says so.
    return entry !== null && isFile(entry) ? entry : loadPart(sourceOf(this.#blocks), cid);
  }

  /** @returns null when it is not content that has a path. */
  #entryAt(cid: CID): Promise<UnixFSEntry | null> {
    const name = canonicalCid(cid);
    const known = this.#kept.get(name);
    if (known !== undefined) return known.entry;
    const entry = walk(sourceOf(this.#blocks), cid.toString());
    // Callers that ask for it meanwhile wait for the same reading.
    this.#kept.set(name, { entry, size: 0 });
    entry.then(
      (found) => {
        if (found === null) this.#kept.delete(name);
        else this.#kept.set(name, { entry, size: sizeOf(found) });
      },
      () => {
        this.#kept.delete(name);
      },
    );
    return entry;
  }

  /** Runs at most `LOADS` reads at the same time, in the order of the calls. */
  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#loading < LOADS) this.#loading += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#loading -= 1;
      else next();
    }
  }
}

function sizeOf(entry: UnixFSEntry): number {
  if (entry.type === "raw") return OVERHEAD.block + entry.node.length;
  if (entry.type !== "file" && entry.type !== "directory") return OVERHEAD.block;
  return OVERHEAD.block + (entry.node.Data?.length ?? 0) + entry.node.Links.length * OVERHEAD.link;
}
