import { fetch } from "undici";
import type { OutboundAgent } from "../../outbound/agent.ts";
import { download, DownloadError } from "../../outbound/download.ts";
import type { StoredMedia } from "../../store/media/media.ts";
import type { BlockStore } from "../block-store.ts";
import { isDamage } from "../content.ts";
import { storeFile } from "../store-file.ts";
import { copyIpfs } from "./copy-ipfs.ts";
import { MediaError } from "./media-error.ts";
import type { Gateway } from "./verified-blocks.ts";

export interface CopyDeps {
  blocks: BlockStore;
  /** Connects only to addresses that user-given URLs may reach. */
  agent: OutboundAgent;
  /** For IPFS content that is not stored here. Null without one. */
  gateway: Gateway | null;
  maxBytes: number;
  /** Timeout for one file in milliseconds, redirects included. */
  deadline: number;
}

/**
 * Streams the content of a URL into the block store. It is never in memory as a whole.
 * @throws MediaError
 */
export async function copyMedia(deps: CopyDeps, url: string, stop: AbortSignal): Promise<StoredMedia> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(deps.deadline)]);
  try {
    return await (/^\s*ipfs:/i.test(url)
      ? copyIpfs(deps, url.trim(), signal)
      : storeFile(deps.blocks, open(deps, url, signal)));
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
    default:
      throw new MediaError("media_blocked", "Only http, https, data and ipfs URLs can be copied.");
  }
}

async function* openData(deps: CopyDeps, url: string): AsyncGenerator<Uint8Array> {
  const bytes = await readDataUrl(url);
  if (bytes === null) throw new MediaError("media_unavailable", "The data URL is malformed.");
  if (bytes.length > deps.maxBytes) {
    throw new MediaError("media_too_large", `The file is larger than ${deps.maxBytes.toString()} bytes.`);
  }
  yield bytes;
}

const CODES = { blocked: "media_blocked", too_large: "media_too_large", unavailable: "media_unavailable" } as const;

function toMediaError(error: unknown): unknown {
  if (error instanceof DownloadError) {
    return new MediaError(CODES[error.problem], error.message, { transient: error.transient, cause: error });
  }
  if (isDamage(error))
    return new MediaError("media_unavailable", "The copy that is stored here is damaged.", { cause: error });
  if (error instanceof Error && error.name === "TimeoutError") {
    return new MediaError("media_unavailable", "The download did not finish in time.", { cause: error });
  }
  return error;
}

/**
 * Decodes a `data:` URL as the WHATWG Fetch standard says. The media type that the URL claims is ignored: types are
 * detected from the bytes.
 * @returns null when the URL is malformed.
 */
export async function readDataUrl(url: string): Promise<Uint8Array | null> {
  // Any other scheme would open a connection.
  if (!/^data:/i.test(url)) return null;
  try {
    const response = await fetch(url);
    return new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    // How fetch reports a URL that it cannot decode.
    if (error instanceof TypeError) return null;
    throw error;
  }
}
