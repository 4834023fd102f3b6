import { faultOfMedia, type MediaUse } from "../../../client/rules/media.ts";
import type { OutboundAgent } from "../../outbound/agent.ts";
import { download, MediaError } from "../../outbound/download.ts";
import { bounded } from "../../shared/bounded.ts";
import type { StoredMedia } from "../../store/media/media.ts";
import { type BlockStore, isStorageFault } from "../block-store.ts";
import { canonicalCid, parseIpfsUri } from "../cids.ts";
import { type ContentFile, findFile, isDamage, storeFile } from "../content.ts";
import { TypeSniffer } from "../media-type.ts";
import { type Gateway, VerifiedBlocks } from "./verified-blocks.ts";

export interface CopyDeps {
  blocks: BlockStore;
  /** Connects only to addresses that user-given URLs may reach. */
  agent: OutboundAgent;
  /** For IPFS content that is not stored here. Null without one. */
  gateway: Gateway | null;
  /** Stores directories too, because other files are in the same ones. `media collect` deletes them later. */
  keepDirectories?: boolean;
  maxBytes: number;
  /** Timeout for one file in milliseconds, redirects included. */
  deadline: number;
}

/**
 * Streams the content of a URL into the block store. It is never in memory as a whole.
 * @param use decides what the content may be. Anything else is not stored.
 * @throws MediaError
 */
export async function copyMedia(
  deps: CopyDeps,
  { url, use }: { url: string; use: MediaUse },
  stop: AbortSignal,
): Promise<StoredMedia> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(deps.deadline)]);
  try {
    return await (/^\s*ipfs:/i.test(url)
      ? copyIpfs(deps, { url: url.trim(), use }, signal)
      : storeFile(deps.blocks, open(deps, url, signal), (file) => {
          requireMedia(use, file);
        }));
  } catch (error) {
    throw toMediaError(error);
  }
}

/** The same, with several gateways: for IPFS content that one does not give, the next is asked. @throws MediaError */
export async function copyInTurn(
  { gateways, ...deps }: Omit<CopyDeps, "gateway"> & { gateways: readonly Gateway[] },
  wanted: { url: string; use: MediaUse },
  stop: AbortSignal,
): Promise<StoredMedia> {
  let failure: unknown;
  for (const gateway of /^\s*ipfs:/i.test(wanted.url) && gateways.length > 0 ? gateways : [null]) {
    try {
      return await copyMedia({ ...deps, gateway }, wanted, stop);
    } catch (error) {
      if (!(error instanceof MediaError) || error.errorCode === "media_too_large") throw error;
      failure ??= error;
    }
  }
  throw failure;
}

function open(deps: CopyDeps, url: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url.trim())?.[0].toLowerCase();
  switch (scheme) {
    case "http:":
    case "https:":
      return download(url.trim(), { agent: deps.agent, maxBytes: deps.maxBytes, signal });
    case "data:":
      return openData(deps, url.trim());
    default:
      throw new MediaError("media_blocked", "Only http, https, data and ipfs URLs can be copied.");
  }
}

// eslint-disable-next-line @typescript-eslint/require-await -- other sources are read step by step
async function* openData(deps: CopyDeps, url: string): AsyncGenerator<Uint8Array> {
  const bytes = readDataUrl(url);
  if (bytes === null) throw new MediaError("media_unavailable", "The data URL is malformed.");
  if (bytes.length > deps.maxBytes) throw tooLarge(deps.maxBytes);
  yield bytes;
}

/**
 * Decodes a `data:` URL. Everything behind the first comma is data, as those who write SVG into it without escapes mean it: a
 * browser would end it at the first `#`. The media type that the URL claims is ignored: types are detected from the bytes.
 * @returns null when the URL is malformed.
 */
export function readDataUrl(url: string): Uint8Array | null {
  const [start, header] = /^data:([^,#]*),/i.exec(url) ?? [];
  if (start === undefined || header === undefined) return null;
  const data = url.slice(start.length);
  if (!/;\s*base64\s*$/i.test(header)) return unescaped(data);
  // Base64 has no `#`, so there it is a fragment.
  const text = Buffer.from(unescaped(data.replace(/#.*$/s, "")))
    .toString("latin1")
    .replace(/[\t\n\f\r ]/g, "");
  return BASE64.test(text) ? Buffer.from(text, "base64") : null;
}

/** The padding may be left out. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/** A `%` that is not an escape stands for itself. */
function unescaped(text: string): Uint8Array {
  const bytes = Buffer.from(text)
    .toString("latin1")
    .replace(/%([0-9a-f]{2})/gi, (_escape, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  return Buffer.from(bytes, "latin1");
}

function toMediaError(error: unknown): unknown {
  if (isDamage(error))
    return new MediaError("media_unavailable", "The copy that is stored here is damaged.", { cause: error });
  if (error instanceof Error && error.name === "TimeoutError") {
    return new MediaError("media_unavailable", "The download did not finish in time.", { cause: error });
  }
  return error;
}

/** Blocks of a file that are fetched at the same time. */
const READ_AHEAD = 4;

/**
 * Copies the file that an `ipfs:` URL names, block by block and unchanged, so that it keeps its CID.
 * @throws MediaError
 */
async function copyIpfs(
  { blocks, gateway, keepDirectories = false, maxBytes }: CopyDeps,
  { url, use }: { url: string; use: MediaUse },
  signal: AbortSignal,
): Promise<StoredMedia> {
  const named = parseIpfsUri(url);
  if (named === null) throw new MediaError("media_unavailable", "The ipfs URL has no valid CID.");
  if (gateway === null && !(await blocks.has(named.cid))) {
    throw new MediaError(
      "media_unavailable",
      "The content is not stored here, and the service has no IPFS gateway to fetch it from (IPFS_GATEWAY).",
    );
  }
  const source = new VerifiedBlocks({ stored: blocks, gateway, maxBytes, signal });
  const draft = blocks.draft();
  if (keepDirectories) source.keepIn(draft);
  try {
    const file = await findFile(source, named.cid, decodePath(named.path), READ_AHEAD);
    if (file === null) throw new MediaError("media_unavailable", "The ipfs URL does not lead to a file.");
    if (file.size > maxBytes) throw tooLarge(maxBytes);
    source.keepIn(draft);
    await source.get(file.cid);
    const stored = { cid: canonicalCid(file.cid), type: await readThrough(file, maxBytes), size: file.size };
    // All blocks are there now, and the type is known.
    requireMedia(use, stored);
    await blocks.adopt(draft);
    return stored;
  } catch (error) {
    const { failure } = source;
    source.stop();
    await draft.drop();
    if (error instanceof MediaError) throw error;
    if (failure !== null) throw failure;
    // All blocks arrived and match their CIDs, but they do not form a file.
    if (!isStorageFault(error))
      throw new MediaError("media_unavailable", "The ipfs URL does not lead to a file.", { cause: error });
    throw error;
  }
}

/** Reads the whole file. @returns its media type. */
async function readThrough(file: ContentFile, maxBytes: number): Promise<string> {
  const sniffer = new TypeSniffer();
  let size = 0;
  for await (const chunk of bounded(file.read(), maxBytes, () => tooLarge(maxBytes))) {
    sniffer.take(chunk);
    size += chunk.length;
  }
  // `Content-Length` will be the size that the file declares.
  if (size !== file.size)
    throw new MediaError("media_unavailable", "The file does not have the size that it declares.");
  return sniffer.type();
}

/** A server may answer with a page that says something else, such as a log-in. */
function requireMedia(use: MediaUse, file: StoredMedia): void {
  const fault = faultOfMedia(use, file);
  if (fault !== null) throw new MediaError("media_unavailable", `The content is ${fault}.`);
}

function tooLarge(maxBytes: number): MediaError {
  return new MediaError("media_too_large", `The file is larger than ${maxBytes.toString()} bytes.`);
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // The escape is malformed, so the name is taken literally.
    return path;
  }
}
