import * as dagPb from "@ipld/dag-pb";
import { CID } from "multiformats/cid";
import * as raw from "multiformats/codecs/raw";
import { sha256 } from "multiformats/hashes/sha2";

import { Slices } from "../shared/in-slices.ts";

const NAMES = /(?:ipfs:\/\/(?:ipfs\/)?|\/ipfs\/)([A-Za-z0-9]+)/gi;

/** The content that texts name, each once: `ipfs://` addresses, and the paths of this or any other gateway. */
export async function namedContent(texts: AsyncIterable<string>): Promise<Map<string, CID>> {
  const found = new Map<string, CID>();
  const slices = new Slices();
  for await (const text of texts) {
    await slices.next();
    for (const [name, cid] of contentNamedIn([text])) found.set(name, cid);
  }
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

/** Codecs of UnixFS blocks. */
const CODECS: readonly number[] = [raw.code, dagPb.code];
const DIGEST_LENGTH = 32;
/** Longest CID text. Even version 1 in base 2 is shorter. */
const MAX_LENGTH = 400;

/**
 * Reads a CID in any of its forms.
 * @returns null for a CID that this service never stores. An "identity" CID is one of them: it contains its content, so
 *   anybody could make this service serve any content.
 */
export function parseCid(text: string): CID | null {
  if (text.length > MAX_LENGTH) return null;
  try {
    const cid = CID.parse(text);
    return isSupported(cid) ? cid : null;
  } catch {
    // Not a CID.
    return null;
  }
}

/** Whether this service stores blocks with such a CID. It checks the digest length, because a CID may claim any hash. */
function isSupported({ code, multihash }: CID): boolean {
  return CODECS.includes(code) && multihash.code === sha256.code && multihash.digest.length === DIGEST_LENGTH;
}

/** The form in which this service stores CIDs: version 1 in base 32. */
export function canonicalCid(cid: CID): string {
  return cid.toV1().toString();
}

/** Parses `ipfs://<cid>[/<path>]` and the older `ipfs://ipfs/<cid>`. @returns null for anything else. */
export function parseIpfsUri(uri: string): { cid: CID; path: string } | null {
  const match = /^ipfs:\/\/(?:ipfs\/)?([^/?#]+)(?:\/([^?#]*))?/i.exec(uri);
  const cid = match?.[1] === undefined ? null : parseCid(match[1]);
  if (cid === null) return null;
  return { cid, path: match?.[2] ?? "" };
}

/**
 * Whether a block can be stored as part of content: it decodes with its codec, and all its links are supported CIDs. Content
 * with other CIDs inside could be read, but not stored under its own CID.
 */
export function isStorableBlock(cid: CID, bytes: Uint8Array): boolean {
  try {
    return linksOf(cid, bytes).every(isSupported);
  } catch {
    // The bytes do not decode.
    return false;
  }
}

/** Whether a block may link to others. */
export function hasLinks(cid: CID): boolean {
  return cid.code === dagPb.code;
}

/** Blocks that this block links to. */
export function linksOf(cid: CID, bytes: Uint8Array): CID[] {
  return cid.code === dagPb.code ? dagPb.decode(bytes).Links.map((link) => link.Hash) : [];
}
