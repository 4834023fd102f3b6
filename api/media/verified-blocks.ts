import type { CID } from "multiformats/cid";

import { type BlockFiles, hasDigest } from "../ipfs/block-files.ts";
import { isStorable } from "../ipfs/cids.ts";
import { type BlockSource, isDamage } from "../ipfs/content.ts";
import type { OutboundAgent } from "../outbound/agent.ts";
import { download, DownloadError } from "../outbound/download.ts";
import { MediaError } from "./media-error.ts";

/** An IPFS gateway that the operator has named, and what connects to it. */
export interface Gateway {
  url: string;
  agent: OutboundAgent;
}

/** Bytes of a block. No implementation of IPFS passes on larger ones. */
const MAX_BLOCK = 2 * 2 ** 20;
/** Blocks on the way to a file, and those of which small files consist. */
const MIN_BLOCKS = 1_000;
/** Bytes that a block of a large file has at least, on the average. Usual are 256 KiB and 1 MiB. */
const SMALL_BLOCK = 4_096;

/**
 * Blocks of content that is named by its CID: from this service's own store, or else one by one from a gateway, which is
 * not believed: what it answers is looked at only when its hash is the CID's. So no gateway can put other bytes under a name.
 */
export class VerifiedBlocks implements BlockSource {
  readonly #stored: BlockFiles;
  readonly #gateway: Gateway | null;
  readonly #stopped = new AbortController();
  readonly #signal: AbortSignal;
  #draft: BlockFiles | null = null;
  #bytesLeft: number;
  #blocksLeft: number;
  /** What kept a block from being had, the first if several; null: all were had. Then only the content can be to blame. */
  failure: Error | null = null;

  constructor(options: { stored: BlockFiles; gateway: Gateway | null; maxBytes: number; signal: AbortSignal }) {
    this.#stored = options.stored;
    this.#gateway = options.gateway;
    this.#signal = AbortSignal.any([options.signal, this.#stopped.signal]);
    // With what holds the parts together, and the directories on the way.
    this.#bytesLeft = 2 * options.maxBytes + 4 * MAX_BLOCK;
    // A few blocks can link to each other so often that reading them never ends.
    this.#blocksLeft = MIN_BLOCKS + Math.ceil(options.maxBytes / SMALL_BLOCK);
  }

  /** From now on what is fetched goes there. */
  keepIn(draft: BlockFiles): void {
    this.#draft = draft;
  }

  /** Ends what is under way: nothing is kept any more. */
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
        throw new MediaError("media_too_large", "It consists of more, or of more parts, than may be copied.");
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
      // Stored again, so that it is not collected before anything names the whole.
      if (draft !== null) await this.#stored.put(cid, bytes);
      return bytes;
    } catch (error) {
      if (!isDamage(error) || this.#gateway === null) throw error;
    }
    const bytes = await this.#fetch(this.#gateway, cid);
    if (!(await hasDigest(cid, bytes))) {
      const words = `The IPFS gateway answered other bytes than the block ${cid.toString()}: it has to know "format=raw".`;
      throw new MediaError("media_unavailable", words);
    }
    if (!isStorable(cid, bytes)) {
      throw new MediaError(
        "media_unavailable",
        `The block ${cid.toString()} is no part of a file, or of a kind that is not kept.`,
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
      if (!(error instanceof DownloadError) || error.problem !== "too_large") throw error;
      const words = `The IPFS gateway answered more than the block ${cid.toString()}: it has to know "format=raw".`;
      throw new MediaError("media_unavailable", words, { cause: error });
    }
    return Buffer.concat(parts);
  }
}
