import { type BlockStore, BlockStoreUnavailable } from "../block-store.ts";
import { canonicalCid, parseIpfsUri } from "../cids.ts";
import { type ContentFile, findFile, isDamage } from "../content.ts";
import { SNIFF_BYTES, sniffMediaType } from "../media-type.ts";
import type { StoredMedia } from "../../store/media/media.ts";
import { MediaError } from "./media-error.ts";
import { type Gateway, VerifiedBlocks } from "./verified-blocks.ts";

/** Blocks of a file that are fetched at the same time. */
const READ_AHEAD = 4;

/**
 * Copies the file that an `ipfs:` URL names, block by block and unchanged, so that it keeps its CID.
 * @throws MediaError, DownloadError
 */
export async function copyIpfs(
  deps: { blocks: BlockStore; gateway: Gateway | null; maxBytes: number },
  url: string,
  signal: AbortSignal,
): Promise<StoredMedia> {
  const named = parseIpfsUri(url);
  if (named === null) throw new MediaError("media_unavailable", "The ipfs URL has no valid CID.");
  const { blocks, gateway, maxBytes } = deps;
  if (gateway === null && !(await blocks.has(named.cid))) {
    throw new MediaError(
      "media_unavailable",
      "The content is not stored here, and the service has no IPFS gateway to fetch it from (IPFS_GATEWAY).",
    );
  }
  const source = new VerifiedBlocks({ stored: blocks, gateway, maxBytes, signal });
  const draft = blocks.draft();
  try {
    const file = await findFile(source, named.cid, decodePath(named.path), READ_AHEAD);
    if (file === null) throw new MediaError("media_unavailable", "The ipfs URL does not lead to a file.");
    if (file.size > maxBytes) throw tooLarge(maxBytes);
    source.keepIn(draft);
    await source.get(file.cid);
    const type = await readThrough(file, maxBytes);
    // All blocks are there now, and the type is known.
    await blocks.adopt(draft);
    return { cid: canonicalCid(file.cid), type, size: file.size };
  } catch (error) {
    const { failure } = source;
    source.stop();
    await draft.drop();
    if (error instanceof MediaError) throw error;
    if (failure !== null) throw failure;
    // All blocks arrived and match their CIDs, but they do not form a file.
    if (!isErrno(error) && !(error instanceof BlockStoreUnavailable))
      throw new MediaError("media_unavailable", "The ipfs URL does not lead to a file.", { cause: error });
    throw error;
  }
}

/** Reads the whole file. @returns its media type. */
async function readThrough(file: ContentFile, maxBytes: number): Promise<string> {
  const head: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of file.read()) {
    if (size < SNIFF_BYTES) head.push(chunk);
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
  }
  // `Content-Length` will be the size that the file declares.
  if (size !== file.size)
    throw new MediaError("media_unavailable", "The file does not have the size that it declares.");
  return sniffMediaType(Buffer.concat(head).subarray(0, SNIFF_BYTES));
}

function tooLarge(maxBytes: number): MediaError {
  return new MediaError("media_too_large", `The file is larger than ${maxBytes.toString()} bytes.`);
}

/** An error of the disk: this service is at fault, not the content. */
function isErrno(error: unknown): boolean {
  return error instanceof Error && "errno" in error && !isDamage(error);
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // The escape is malformed, so the name is taken literally.
    return path;
  }
}
