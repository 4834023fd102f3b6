import type { components } from "./document.ts";
import { refusalOfText } from "./errors.ts";
import { once, repeated, type Send } from "./retries.ts";

/** A file. A Blob, such as that of `openAsBlob` of Node, is read as it is sent. A stream can be sent once, so without retries. */
export type MediaBody = Blob | ArrayBuffer | Uint8Array | ReadableStream<Uint8Array>;
/** A stored file: its `ipfs://` address in `uri`, its `cid`, its media type in `type`, and its `bytes`. */
export type UploadedMedia = components["schemas"]["UploadedMedia"];

/** Options of `uploadMedia`. */
export interface UploadOptions {
  /** The media type. Default: that of the Blob. The service detects it from the bytes and refuses one that does not fit. */
  type?: string;
  /** Longest time for one try, in milliseconds. Default: 330,000. The service waits 300,000 for a file. */
  timeout?: number;
  /** Aborts the upload. The file may have been stored. */
  signal?: AbortSignal;
}

interface Destination {
  url: string;
  headers: Record<string, string>;
  send: Send;
  maxRetries: number;
  signal: AbortSignal;
}

const TIMEOUT = 330_000;
const ANY_TYPE = "application/octet-stream";

/** Stores a file. The same bytes are stored once, so any try can be repeated. */
export async function upload(
  body: MediaBody,
  { type, timeout = TIMEOUT }: UploadOptions,
  { url, headers, send, maxRetries, signal }: Destination,
): Promise<UploadedMedia> {
  const streamed = body instanceof ReadableStream;
  const blobType = body instanceof Blob && body.type !== "" ? body.type : ANY_TYPE;
  const init = {
    method: "POST",
    headers: { ...headers, "Content-Type": type ?? blobType },
    body: body as NonNullable<RequestInit["body"]>,
    signal,
    // Required for a stream. The types of browsers do not have it yet.
    ...(streamed ? { duplex: "half" as const } : {}),
  };
  const response = await repeated(() => once(send, new Request(url, init), { timeout, signal }), {
    repeatable: true,
    maxRetries: streamed ? 0 : maxRetries,
    signal,
  });
  const text = await response.text();
  if (!response.ok) throw refusalOfText(response, text);
  return JSON.parse(text) as UploadedMedia;
}
