import type { CID } from "multiformats/cid";
import { sha256 } from "multiformats/hashes/sha2";

import type { BlockFiles } from "./block-files.ts";
import { canonicalCid } from "./cids.ts";

/** Thrown when a block is not stored. */
export class BlockMissing extends Error {
  override readonly name = "BlockMissing";
  readonly cid: string;

  constructor(cid: CID) {
    super(`block ${canonicalCid(cid)} is missing`);
    this.cid = canonicalCid(cid);
  }
}

/** Thrown when the bytes of a stored block do not match the hash in its CID. */
export class BlockCorrupt extends Error {
  override readonly name = "BlockCorrupt";
  readonly cid: string;

  constructor(cid: CID) {
    super(`block ${canonicalCid(cid)} is corrupt`);
    this.cid = canonicalCid(cid);
  }
}

/** Thrown when the place where blocks are stored cannot be reached or does not accept blocks now. */
export class BlockStoreUnavailable extends Error {
  override readonly name = "BlockStoreUnavailable";
}

/** Whether the service could not store or read blocks: its disk or its media store is at fault, not the content. */
export function isStorageFault(error: unknown): boolean {
  return error instanceof BlockStoreUnavailable || isSystemError(error);
}

/** The same fault has the same key, whatever file it names. */
export function storageFaultKey(error: unknown): string {
  if (isSystemError(error)) return error.code ?? error.message;
  return error instanceof Error ? error.message : String(error);
}

/** An error of the operating system, such as ENOSPC, EIO, EACCES or EROFS. Errors of downloads are `MediaError`s. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "errno" in error && "syscall" in error;
}

/** Thrown when another process has restored the blocks of a quarantine. */
export class QuarantineTakenOver extends Error {
  override readonly name = "QuarantineTakenOver";

  constructor() {
    super("another process has restored the quarantined blocks");
  }
}

export interface StoredBlock {
  cid: CID;
  bytes: number;
}

/**
 * Where the blocks of hosted content are: files, the database, or a bucket (`MEDIA_STORE`). The same bytes are stored once,
 * and every read is checked against the CID. Any number of processes may use it at the same time.
 */
export interface BlockStore {
  /** `files`, `database` or `s3://<bucket>/<prefix>`. Two stores with the same name hold the same blocks. */
  readonly name: string;
  /** Stores a block, or notes that it was stored again. When this resolves, the whole block is durable. */
  put(cid: CID, bytes: Uint8Array): Promise<void>;
  /** @throws BlockMissing, BlockCorrupt, BlockStoreUnavailable */
  get(cid: CID): Promise<Uint8Array>;
  has(cid: CID): Promise<boolean>;
  /** Every block, in no order. */
  all(): AsyncIterable<StoredBlock>;
  /** Local files for blocks that may be discarded. End it with `adopt`, or with its method `drop`. */
  draft(): BlockFiles;
  /** Moves all blocks of a draft into this store and removes the draft. */
  adopt(draft: BlockFiles): Promise<void>;
  /** A new, empty quarantine for a garbage collection. */
  quarantine(): Quarantine;
  /** Restores blocks that an interrupted garbage collection has quarantined. @returns how many. */
  restoreQuarantined(): Promise<number>;
  /** Removes drafts and unfinished uploads older than `before`, left by processes that died. */
  removeUnfinished(before: number): Promise<void>;
  /** Why blocks cannot be stored or read now, and what to do about it; null when they can. */
  problem(): Promise<string | null>;
}

/**
 * Blocks that a garbage collection has taken out of the store and not removed yet. Nobody can read them, and each can still
 * be restored. So the collection can check again that nothing refers to them, while no reader can start to depend on them
 * unseen.
 */
export interface Quarantine {
  /**
   * Takes blocks out of the store, except those that were stored (again) since `before`.
   * @returns those that were taken out.
   * @throws QuarantineTakenOver
   */
  add(cids: readonly CID[], before: number): Promise<CID[]>;
  /** @returns false when the block is not in this quarantine. */
  restore(cid: CID): Promise<boolean>;
  /** Restores all blocks and ends the quarantine. @returns how many were restored. */
  restoreAll(): Promise<number>;
  all(): Promise<CID[]>;
  /** Makes the removal final: from now on no block is restored, even if this process dies. @throws QuarantineTakenOver */
  confirm(): Promise<void>;
  /** Deletes the blocks after `confirm`, and ends the quarantine. */
  remove(): Promise<{ blocks: number; bytes: number }>;
}

/** Whether the hash of the bytes is the one in the CID. */
export async function hasDigest(cid: CID, bytes: Uint8Array): Promise<boolean> {
  const digest = await sha256.digest(bytes);
  return Buffer.compare(digest.bytes, cid.multihash.bytes) === 0;
}
