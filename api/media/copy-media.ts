import type { OutboundAgent } from "../outbound/agent.ts";

import type { BlockFiles } from "../ipfs/block-files.ts";
import { canonicalCid, parseIpfsUri } from "../ipfs/cids.ts";
import { findFile, importContent, isDamage } from "../ipfs/content.ts";
import { SNIFF_BYTES, sniffMediaType } from "../ipfs/media-type.ts";
import { download, DownloadError } from "../outbound/download.ts";
import type { StoredMedia } from "../store/media.ts";
import { readDataUrl } from "./data-url.ts";
import { MediaError } from "./media-error.ts";

export interface CopyDeps {
  blocks: BlockFiles;
  /** Connects to addresses that users may lead to. */
  agent: OutboundAgent;
  /** An IPFS gateway for what is not stored here, and what connects to it; null: there is none. */
  gateway: { url: string; agent: OutboundAgent } | null;
  maxBytes: number;
  /** Milliseconds for one file, redirects and all. */
  deadline: number;
}

/**
 * Copies what a URL leads to into the block store, as it arrives: nothing is held in memory as a whole.
 * @throws MediaError
 */
export async function copyMedia(deps: CopyDeps, url: string, stop: AbortSignal): Promise<StoredMedia> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(deps.deadline)]);
  const head: Uint8Array[] = [];
  let headLength = 0;
  const source = async function* () {
    for await (const chunk of open(deps, url, signal)) {
      if (headLength < SNIFF_BYTES) head.push(chunk);
      headLength += chunk.length;
      yield chunk;
    }
  };
  try {
    const { cid, size } = await importContent(deps.blocks, source());
    const type = await sniffMediaType(Buffer.concat(head).subarray(0, SNIFF_BYTES));
    return { cid: canonicalCid(cid), type, size };
  } catch (error) {
    throw toMediaError(error);
  }
}

function open(deps: CopyDeps, url: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url.trim())?.[0].toLowerCase();
  switch (scheme) {
    case "http:":
    case "https:":
      return download(url.trim(), { agent: deps.agent, maxBytes: deps.maxBytes, signal });
    case "data:":
      return openData(deps, url.trim());
    case "ipfs:":
      return openIpfs(deps, url.trim(), signal);
    default:
      throw new MediaError("media_blocked", "Only http, https, data and ipfs URLs are copied.");
  }
}

async function* openData(deps: CopyDeps, url: string): AsyncGenerator<Uint8Array> {
  await Promise.resolve();
  const bytes = readDataUrl(url);
  if (bytes === null) throw new MediaError("media_unavailable", "The data URL is malformed.");
  if (bytes.length > deps.maxBytes) {
    throw new MediaError("media_too_large", `It is larger than ${deps.maxBytes.toString()} bytes.`);
  }
  yield bytes;
}

/** From this service's own store where it is complete there, else from the gateway. */
async function* openIpfs(deps: CopyDeps, url: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const named = parseIpfsUri(url);
  if (named === null) throw new MediaError("media_unavailable", "The ipfs URL names nothing that can be fetched.");
  const path = decodePath(named.path);
  let started = false;
  try {
    const file = await findFile(deps.blocks, named.cid, path);
    if (file !== null) {
      if (file.size > deps.maxBytes) {
        throw new MediaError("media_too_large", `It is larger than ${deps.maxBytes.toString()} bytes.`);
      }
      for await (const chunk of file.read()) {
        started = true;
        signal.throwIfAborted();
        yield chunk;
      }
      return;
    }
  } catch (error) {
    if (!isDamage(error) || started) throw error;
  }
  if (deps.gateway === null) {
    throw new MediaError("media_unavailable", "It is not stored here, and no IPFS gateway is set (IPFS_GATEWAY).");
  }
  const escaped = path.split("/").map(encodeURIComponent).join("/");
  const target = `${deps.gateway.url}/ipfs/${named.cid.toString()}${escaped === "" ? "" : `/${escaped}`}`;
  yield* download(target, { agent: deps.gateway.agent, maxBytes: deps.maxBytes, signal });
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // A broken escape: the name is what it looks like.
    return path;
  }
}

const CODES = { blocked: "media_blocked", too_large: "media_too_large", unavailable: "media_unavailable" } as const;

function toMediaError(error: unknown): unknown {
  if (error instanceof DownloadError) {
    return new MediaError(CODES[error.problem], error.message, { transient: error.transient, cause: error });
  }
  if (isDamage(error))
    return new MediaError("media_unavailable", "What is stored of it here is damaged.", { cause: error });
  if (error instanceof Error && error.name === "TimeoutError") {
    return new MediaError("media_unavailable", "It did not arrive in time.", { cause: error });
  }
  return error;
}
