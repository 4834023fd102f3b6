import type { CID } from "multiformats/cid";

import { canonicalCid, parseCid } from "./cids.ts";

const NAMES = /(?:ipfs:\/\/(?:ipfs\/)?|\/ipfs\/)([A-Za-z0-9]+)/gi;

/** The content that texts name, each once: `ipfs://` addresses, and the paths of this or any other gateway. */
export async function namedContent(texts: AsyncIterable<string>): Promise<Map<string, CID>> {
  const found = new Map<string, CID>();
  for await (const text of texts) for (const [name, cid] of contentNamedIn([text])) found.set(name, cid);
  return found;
}

/** The same for texts in memory. */
export function contentNamedIn(texts: Iterable<string>): Map<string, CID> {
  const found = new Map<string, CID>();
  for (const text of texts) {
    for (const [, name] of text.matchAll(NAMES)) {
      const cid = parseCid(name ?? "");
      if (cid !== null) found.set(canonicalCid(cid), cid);
    }
  }
  return found;
}
