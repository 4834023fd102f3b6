import type { CID } from "multiformats/cid";

import type { OutboundAgent } from "../../outbound/agent.ts";
import { download, MediaError } from "../../outbound/download.ts";
import type { BlockFiles } from "../block-files.ts";
import { type BlockStore, hasDigest } from "../block-store.ts";
import { isStorableBlock } from "../cids.ts";
import { type BlockSource, isDamage } from "../content.ts";

/** The operator's IPFS gateway, and the agent that connects to it. */
export interface Gateway {
  url: string;
  agent: OutboundAgent;
}

/** Most bytes of a block. No IPFS implementation transfers larger ones. */
const MAX_BLOCK = 2 * 2 ** 20;
/** Blocks that are always allowed: directories on the path, and files of small blocks. */
const MIN_BLOCKS = 1_000;
/** Lowest average block size of a large file, in bytes. Usual sizes are 256 KiB and 1 MiB. */
const SMALL_BLOCK = 4_096;

/**
 * Reads blocks by CID: from this service's own store, otherwise one by one from a gateway. The gateway is not trusted: a
 * block is used only when its hash matches the CID. So no gateway can substitute other content.
 */
export class VerifiedBlocks implements BlockSource {
  readonly #stored: BlockStore;
  readonly #gateway: Gateway | null;
  readonly #stopped = new AbortController();
  readonly #signal: AbortSignal;
  #draft: BlockFiles | null = null;
  #bytesLeft: number;
  #blocksLeft: number;
  /** The first error that kept a block from being read. While it is null, any failure is due to the content itself. */
  failure: Error | null = null;

  constructor(options: { stored: BlockStore; gateway: Gateway | null; maxBytes: number; signal: AbortSignal }) {
    this.#stored = options.stored;
    this.#gateway = options.gateway;
    this.#signal = AbortSignal.any([options.signal, this.#stopped.signal]);
    // Includes the blocks that link the parts, and the directories on the path.
    this.#bytesLeft = 2 * options.maxBytes + 4 * MAX_BLOCK;
    // Limited, because a few blocks can link to each other so often that reading them never ends.
    this.#blocksLeft = MIN_BLOCKS + Math.ceil(options.maxBytes / SMALL_BLOCK);
  }

  /** Stores the blocks that are fetched from now on in the draft. */
  keepIn(draft: BlockFiles): void {
    this.#draft = draft;
  }

  /** Cancels all fetches in progress. Nothing is stored after this. */
  stop(): void {
    this.#stopped.abort();
  }

  async has(cid: CID): Promise<boolean> {
    return this.#gateway !== null || this.#stored.has(cid);
  }

  async get(cid: CID): Promise<Uint8Array> {
    try {
      this.#signal.throwIfAborted();
      const bytes = await this.#read(cid);
      this.#bytesLeft -= bytes.length;
      this.#blocksLeft -= 1;
      if (this.#bytesLeft < 0 || this.#blocksLeft < 0) {
        throw new MediaError("media_too_large", "The content has more bytes or more blocks than may be copied.");
      }
      return bytes;
    } catch (error) {
      this.failure ??= error instanceof Error ? error : new Error(String(error));
      throw error;
    }
  }

  async #read(cid: CID): Promise<Uint8Array> {
    const draft = this.#draft;
    if (draft !== null && (await draft.has(cid))) return draft.get(cid);
    try {
      const bytes = await this.#stored.get(cid);
      // Stored again: this protects it from garbage collection until a row names the content.
      if (draft !== null) await this.#stored.put(cid, bytes);
      return bytes;
    } catch (error) {
      if (!isDamage(error) || this.#gateway === null) throw error;
    }
    const bytes = await this.#fetch(this.#gateway, cid);
    if (!(await hasDigest(cid, bytes))) {
      const words = `The IPFS gateway returned other bytes than the block ${cid.toString()}. It must support "?format=raw".`;
      throw new MediaError("media_unavailable", words);
    }
    if (!isStorableBlock(cid, bytes)) {
      throw new MediaError(
        "media_unavailable",
        `The block ${cid.toString()} is not part of a file, or its format is not supported.`,
      );
    }
    this.#signal.throwIfAborted();
    await draft?.put(cid, bytes);
    return bytes;
  }

  async #fetch({ url, agent }: Gateway, cid: CID): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    const options = { agent, maxBytes: MAX_BLOCK, signal: this.#signal, accept: "application/vnd.ipld.raw" };
    try {
      for await (const part of download(`${url}/ipfs/${cid.toString()}?format=raw`, options)) parts.push(part);
    } catch (error) {
      if (!(error instanceof MediaError) || error.errorCode !== "media_too_large") throw error;
      const words = `The IPFS gateway returned more than the block ${cid.toString()}. It must support "?format=raw".`;
      throw new MediaError("media_unavailable", words, { cause: error });
    }
    return Buffer.concat(parts);
  }
}
