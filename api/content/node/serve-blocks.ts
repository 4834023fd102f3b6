import { withBitswap } from "@helia/bitswap";
import type { Libp2p } from "@libp2p/interface";
import type { CID } from "multiformats/cid";
import { sha256 } from "multiformats/hashes/sha2";
import type { Logger } from "pino";

import { BlockMissing, type BlockStore } from "../block-store.ts";
import { parseCid } from "../cids.ts";

/** Bytes at once and per second, for all peers together. This limits the memory. */
const BURST = 32 * 2 ** 20;
const PER_SECOND = 4 * 2 ** 20;
/** Milliseconds within which a peer must accept a message. */
const SEND_TIMEOUT = 60_000;
/** Milliseconds until a deferred block is offered again. */
const DEFER = 1_000;
const MAX_DEFERRED = 4_096;

/** Tells bitswap that a block does not exist. Bitswap recognises the error by its name. */
class NotFoundError extends Error {
  override readonly name = "NotFoundError";
}

/** The part of Helia's bitswap that is used here. */
interface Bitswap {
  /** Tells bitswap that a block is available, so that it serves the peers that want it. */
  announce(cid: CID): Promise<void>;
  stop(): Promise<void>;
}

/** Sends stored blocks to peers that ask for them. It never asks peers for blocks and stores nothing that they send. */
export async function serveBlocks(
  libp2p: Libp2p,
  blocks: BlockStore,
  logger: Logger,
): Promise<{ stop(): Promise<void> }> {
  const allowance = new Allowance(BURST, PER_SECOND, () => performance.now());
  const deferred = new Map<string, CID>();
  let timer: NodeJS.Timeout | undefined;
  const defer = (cid: CID) => {
    if (deferred.size < MAX_DEFERRED) deferred.set(cid.toString(), cid);
    timer ??= setTimeout(() => {
      timer = undefined;
      const wanted = [...deferred.values()];
      deferred.clear();
      Promise.all(wanted.map((each) => bitswap.announce(each))).catch((error: unknown) => {
        logger.warn({ err: error }, "deferred blocks could not be sent to IPFS peers");
      });
    }, DEFER);
  };
  const bitswap = await startBitswap(libp2p, {
    has: async (cid: CID) => {
      if (!(await has(blocks, cid))) return false;
      if (allowance.open) return true;
      defer(cid);
      return false;
    },
    async *get(cid: CID) {
      const bytes = await read(blocks, cid, logger);
      allowance.spend(bytes.length);
      yield bytes;
    },
  });
  return {
    stop: async () => {
      clearTimeout(timer);
      await bitswap.stop();
    },
  };
}

/** Peers may ask for any CID, also for identity CIDs and ones too long for a file name: `parseCid` rejects these. */
async function has(blocks: BlockStore, cid: CID): Promise<boolean> {
  return parseCid(cid.toString()) !== null && (await blocks.has(cid));
}

async function read(blocks: BlockStore, cid: CID, logger: Logger): Promise<Uint8Array> {
  try {
    return await blocks.get(cid);
  } catch (error) {
    // A block that is missing now was garbage-collected since `has`. Any other error is a fault of the disk.
    if (!(error instanceof BlockMissing)) logger.error({ err: error }, "a block cannot be served to IPFS peers");
    throw new NotFoundError("the block is not here", { cause: error });
  }
}

/**
 * Starts Helia's bitswap on an object with the interface of a starting Helia node. A real Helia node would also fetch missing
 * blocks from peers, and its packages take several hundred megabytes.
 */
async function startBitswap(libp2p: Libp2p, blockstore: object): Promise<Bitswap> {
  const mixins: { start(node: object): Promise<void> }[] = [];
  const started: Bitswap[] = [];
  const node = {
    status: "starting",
    libp2p,
    logger: libp2p.logger,
    blockstore,
    routing: { findProviders: () => [] },
    getHasher: (code: number) => {
      if (code === sha256.code) return sha256;
      throw new Error(`the hash function ${code.toString()} is not supported`);
    },
    addMixin: (mixin: { start(node: object): Promise<void> }) => mixins.push(mixin),
    hasBlockBroker: () => started.length > 0,
    addBlockBroker: (broker: Bitswap) => started.push(broker),
  };
  withBitswap(node, { messageSendTimeout: SEND_TIMEOUT });
  for (const mixin of mixins) await mixin.start(node);
  const [bitswap] = started;
  if (bitswap === undefined) throw new Error("bitswap did not start");
  return bitswap;
}

/**
 * A token bucket for bytes: `burst` at once, then `perSecond`. It limits the memory, because Helia keeps everything that a
 * peer asks for in memory until it is sent.
 */
export class Allowance {
  readonly #burst: number;
  readonly #perSecond: number;
  readonly #now: () => number;
  #left: number;
  #countedAt: number;

  /** @param now milliseconds of a monotonic clock. */
  constructor(burst: number, perSecond: number, now: () => number) {
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#now = now;
    this.#left = burst;
    this.#countedAt = now();
  }

  /** Whether any bytes are left. One block may overdraw the allowance; the next one then waits longer. */
  get open(): boolean {
    const now = this.#now();
    this.#left = Math.min(this.#burst, this.#left + ((now - this.#countedAt) / 1000) * this.#perSecond);
    this.#countedAt = now;
    return this.#left > 0;
  }

  spend(bytes: number): void {
    this.#left -= bytes;
  }
}
