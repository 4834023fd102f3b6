import type { CID } from "multiformats/cid";

import type { BlockStore } from "./block-store.ts";
import { canonicalCid } from "./cids.ts";
import { importContent } from "./content.ts";
import { SNIFF_BYTES, sniffMediaType } from "./media-type.ts";

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
  const head: Uint8Array[] = [];
  let headLength = 0;
  const observed = async function* () {
    for await (const chunk of source) {
      if (headLength < SNIFF_BYTES) head.push(chunk);
      headLength += chunk.length;
      yield chunk;
    }
  };
  // When the stream breaks off or is too large, nothing of it stays on the disk.
  const draft = blocks.draft();
  try {
    if (expected > 0) await draft.expect(expected);
    const sink = {
      // A block that is stored already is not written a second time.
      put: async (block: CID, bytes: Uint8Array) =>
        (await blocks.has(block)) ? blocks.put(block, bytes) : draft.put(block, bytes),
    };
    const { cid, size } = await importContent(sink, observed());
    const type = await sniffMediaType(Buffer.concat(head).subarray(0, SNIFF_BYTES));
    const file = { cid: canonicalCid(cid), type, size };
    await check(file);
    await blocks.adopt(draft);
    return file;
  } catch (error) {
    await draft.drop();
    throw error;
  }
}
