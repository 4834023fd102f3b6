import type { CID } from "multiformats/cid";

import { canonicalCid, parseCid } from "./cids.ts";

/** The content that texts name: `ipfs://` addresses, and the CIDs that a command holds by themselves. Each once. */
export async function namedContent(texts: AsyncIterable<string>): Promise<Map<string, CID>> {
  const found = new Map<string, CID>();
  for await (const text of texts) {
    for (const [, prefixed, alone] of text.matchAll(/ipfs:\/\/(?:ipfs\/)?([A-Za-z0-9]+)|"directory":"([a-z0-9]+)"/g)) {
      const cid = parseCid(prefixed ?? alone ?? "");
      if (cid !== null) found.set(canonicalCid(cid), cid);
    }
  }
  return found;
}
