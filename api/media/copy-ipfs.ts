import type { BlockFiles } from "../ipfs/block-files.ts";
import { canonicalCid, parseIpfsUri } from "../ipfs/cids.ts";
import { type ContentFile, findFile, isDamage } from "../ipfs/content.ts";
import { SNIFF_BYTES, sniffMediaType } from "../ipfs/media-type.ts";
import type { StoredMedia } from "../store/media/media.ts";
import { MediaError } from "./media-error.ts";
import { type Gateway, VerifiedBlocks } from "./verified-blocks.ts";

/** Blocks that a file is fetched in at once. */
const READ_AHEAD = 4;

/**
 * Copies what an `ipfs:` URL names, block by block, as it is: it keeps the CID that it has everywhere.
 * @throws MediaError, DownloadError
 */
export async function copyIpfs(
  deps: { blocks: BlockFiles; gateway: Gateway | null; maxBytes: number },
  url: string,
  signal: AbortSignal,
): Promise<StoredMedia> {
  const named = parseIpfsUri(url);
  if (named === null) throw new MediaError("media_unavailable", "The ipfs URL names nothing that can be fetched.");
  const { blocks, gateway, maxBytes } = deps;
  if (gateway === null && !(await blocks.has(named.cid))) {
    throw new MediaError("media_unavailable", "It is not stored here, and no IPFS gateway is set (IPFS_GATEWAY).");
  }
  const source = new VerifiedBlocks({ stored: blocks, gateway, maxBytes, signal });
  const draft = blocks.draft();
  try {
    const file = await findFile(source, named.cid, decodePath(named.path), READ_AHEAD);
    if (file === null) throw new MediaError("media_unavailable", "The ipfs URL names no file.");
    if (file.size > maxBytes) throw tooLarge(maxBytes);
    source.keepIn(draft);
    await source.get(file.cid);
    const type = await readThrough(file, maxBytes);
    // Only now is it known that all of it is there, and what it is.
    await blocks.adopt(draft);
    return { cid: canonicalCid(file.cid), type, size: file.size };
  } catch (error) {
    const { failure } = source;
    source.stop();
    await draft.drop();
    if (error instanceof MediaError) throw error;
    if (failure !== null) throw failure;
    // Every block was had, and is what its name says: together they make no file.
    if (!isErrno(error)) throw new MediaError("media_unavailable", "The ipfs URL names no file.", { cause: error });
    throw error;
  }
}

/** Reads all of it. @returns its type. */
async function readThrough(file: ContentFile, maxBytes: number): Promise<string> {
  const head: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of file.read()) {
    if (size < SNIFF_BYTES) head.push(chunk);
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
  }
  // What it says of itself is what `Content-Length` will say.
  if (size !== file.size) throw new MediaError("media_unavailable", "The file is not as long as it says.");
  return sniffMediaType(Buffer.concat(head).subarray(0, SNIFF_BYTES));
}

function tooLarge(maxBytes: number): MediaError {
  return new MediaError("media_too_large", `It is larger than ${maxBytes.toString()} bytes.`);
}

/** Of the disk: a fault of this side. */
function isErrno(error: unknown): boolean {
  return error instanceof Error && "errno" in error && !isDamage(error);
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // A broken escape: the name is what it looks like.
    return path;
  }
}
