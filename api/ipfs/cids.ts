import * as dagPb from "@ipld/dag-pb";
import { CID } from "multiformats/cid";
import * as raw from "multiformats/codecs/raw";
import { sha256 } from "multiformats/hashes/sha2";

/** Codecs of the blocks that UnixFS content is made of. */
const CODECS: readonly number[] = [raw.code, dagPb.code];
const DIGEST_LENGTH = 32;
/** Longest text that can be such a CID: version 1 in base 2 has fewer digits. */
const MAX_LENGTH = 400;

/**
 * Reads a CID in any of its forms.
 * @returns null for anything that this service would never store. An "identity" CID among them: it holds its content
 *   itself, so that anybody could have any content served.
 */
export function parseCid(text: string): CID | null {
  if (text.length > MAX_LENGTH) return null;
  try {
    const cid = CID.parse(text);
    return isKept(cid) ? cid : null;
  } catch {
    // Not a CID at all.
    return null;
  }
}

/** Whether blocks of this kind are ever stored. A digest of another length is none of SHA-256, whatever it says. */
function isKept({ code, multihash }: CID): boolean {
  return CODECS.includes(code) && multihash.code === sha256.code && multihash.digest.length === DIGEST_LENGTH;
}

/** One form for what can be written in many: version 1 in base 32. */
export function canonicalCid(cid: CID): string {
  return cid.toV1().toString();
}

/** `ipfs://<cid>[/<path>]` in its parts, the older `ipfs://ipfs/<cid>` included; null for anything else. */
export function parseIpfsUri(uri: string): { cid: CID; path: string } | null {
  const match = /^ipfs:\/\/(?:ipfs\/)?([^/?#]+)(?:\/([^?#]*))?/i.exec(uri);
  const cid = match?.[1] === undefined ? null : parseCid(match[1]);
  if (cid === null) return null;
  return { cid, path: match?.[2] ?? "" };
}

/**
 * Whether a block can be part of stored content: it is what its codec says, and all that it links to can be stored too.
 * (Content may be written with CIDs of other kinds inside. Its bytes could be told; it could not be kept under its name.)
 */
export function isStorable(cid: CID, bytes: Uint8Array): boolean {
  try {
    return linksOf(cid, bytes).every(isKept);
  } catch {
    // No node at all.
    return false;
  }
}

/** Blocks that this block links to. */
export function linksOf(cid: CID, bytes: Uint8Array): CID[] {
  return cid.code === dagPb.code ? dagPb.decode(bytes).Links.map((link) => link.Hash) : [];
}
