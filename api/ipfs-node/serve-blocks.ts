import { withBitswap } from "@helia/bitswap";
import type { Libp2p } from "@libp2p/interface";
import type { CID } from "multiformats/cid";
import { sha256 } from "multiformats/hashes/sha2";
import type { Logger } from "pino";

import { type BlockFiles, BlockMissing } from "../ipfs/block-files.ts";
import { parseCid } from "../ipfs/cids.ts";
import { Allowance } from "./allowance.ts";

/** Bytes for all peers together, at once and in a second: what bounds the memory, whatever they ask for. */
const BURST = 32 * 2 ** 20;
const PER_SECOND = 4 * 2 ** 20;
/** Milliseconds in which a peer must have taken what was sent to it. */
const SEND_TIMEOUT = 60_000;
/** Milliseconds until what was put off is looked at again. */
const PUT_OFF = 1_000;
const MOST_PUT_OFF = 4_096;

/** Bitswap is told so of a block that it cannot have; it knows the error by this name. */
class NotFoundError extends Error {
  override readonly name = "NotFoundError";
}

/** What is used of Helia's bitswap. */
interface Bitswap {
  /** Looks again at what peers wanted in vain. */
  announce(cid: CID): Promise<void>;
  stop(): Promise<void>;
}

/** Gives stored blocks to peers that ask for them. Nothing is ever asked of peers, and nothing that they send is kept. */
export async function serveBlocks(
  libp2p: Libp2p,
  blocks: BlockFiles,
  logger: Logger,
): Promise<{ stop(): Promise<void> }> {
  const allowance = new Allowance(BURST, PER_SECOND, () => performance.now());
  const putOff = new Map<string, CID>();
  let timer: NodeJS.Timeout | undefined;
  const lookAgainAt = (cid: CID) => {
    if (putOff.size < MOST_PUT_OFF) putOff.set(cid.toString(), cid);
    timer ??= setTimeout(() => {
      timer = undefined;
      const wanted = [...putOff.values()];
      putOff.clear();
      Promise.all(wanted.map((each) => bitswap.announce(each))).catch((error: unknown) => {
        logger.warn({ err: error }, "IPFS peers that waited for blocks could not be served");
      });
    }, PUT_OFF);
  };
  const bitswap = await startBitswap(libp2p, {
    has: async (cid: CID) => {
      if (!(await has(blocks, cid))) return false;
      if (allowance.open) return true;
      lookAgainAt(cid);
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

/** Peers may ask for anything: for content that holds itself, say, or with names that no file can have. */
async function has(blocks: BlockFiles, cid: CID): Promise<boolean> {
  return parseCid(cid.toString()) !== null && (await blocks.has(cid));
}

async function read(blocks: BlockFiles, cid: CID, logger: Logger): Promise<Uint8Array> {
  try {
    return await blocks.get(cid);
  } catch (error) {
    // A block that is gone since it was looked for has been collected; anything else is a fault of the disk.
    if (!(error instanceof BlockMissing)) logger.error({ err: error }, "a block cannot be served to IPFS peers");
    throw new NotFoundError("the block is not here", { cause: error });
  }
}

/**
 * Bitswap as Helia has it. It is attached to whatever looks like a Helia node while that starts; a whole one would bring
 * a block store that fetches what it lacks, and packages of several hundred megabytes.
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
      throw new Error(`no content has names of hash ${code.toString()} here`);
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
