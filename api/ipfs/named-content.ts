import type { CID } from "multiformats/cid";

import { canonicalCid, parseCid } from "./cids.ts";

const NAMES = /(?:ipfs:\/\/(?:ipfs\/)?|\/ipfs\/)([A-Za-z0-9]+)|"directory":"([a-z0-9]+)"/gi;

/**
 * The content that texts name: `ipfs://` addresses, those of this or any other gateway, and the CIDs that a command holds by
 * themselves. Each once.
 */
export async function namedContent(texts: AsyncIterable<string>): Promise<Map<string, CID>> {
  const found = new Map<string, CID>();
  for await (const text of texts) {
    for (const [, prefixed, alone] of text.matchAll(NAMES)) {
      const cid = parseCid(prefixed ?? alone ?? "");
      if (cid !== null) found.set(canonicalCid(cid), cid);
    }
  }
  return found;
}
