import { pipeline } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";

import { type Dispatcher, request } from "undici";

import type { RequestFailureCode } from "../domain/error-codes.ts";
import { bounded } from "../shared/bounded.ts";
import { HOW_TO_ALLOW } from "./addresses.ts";

/** Thrown when media cannot be copied. The request fails with its code. */
export class MediaError extends Error {
  override readonly name = "MediaError";
  readonly errorCode: Extract<RequestFailureCode, `media_${string}` | "quota_exceeded">;
  /** Whether a retry may succeed. */
  readonly transient: boolean;
  /** The field of the request that names the content. `copyContent` sets it. */
  field = "copy_media";

  constructor(
    errorCode: MediaError["errorCode"],
    message: string,
    options: { transient?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.errorCode = errorCode;
    this.transient = options.transient ?? false;
  }
}

interface DownloadOptions {
  /** Must connect to allowed addresses only. */
  agent: Dispatcher;
  /** Limit for the bytes as sent and for the decompressed bytes. */
  maxBytes: number;
  /** Aborts the download at its deadline. */
  signal: AbortSignal;
  /** The `Accept` header. */
  accept?: string;
}

const MAX_REDIRECTS = 5;
/** The largest window of zstd that receivers must support is 2^23 bytes, 8 MiB (RFC 8878, section 3.1.1.1.2). */
const ZSTD_WINDOW_BITS = 23;

/**
 * Downloads from an http(s) URL that a user gave. Each redirect is checked like the first URL.
 * @throws MediaError
 */
export async function* download(url: string, options: DownloadOptions): AsyncGenerator<Uint8Array> {
  try {
    const response = await follow(url, options);
    yield* bounded(decompressed(response, options), options.maxBytes, () => tooLarge(options.maxBytes));
  } catch (error) {
    throw describe(error, options.signal);
  }
}

async function follow(start: string, options: DownloadOptions): Promise<Dispatcher.ResponseData> {
  let url = parseHttpUrl(start);
  for (let redirects = 0; ; redirects++) {
    const response = await request(url, {
      dispatcher: options.agent,
      signal: options.signal,
      headers: {
        "accept-encoding": "identity",
        "user-agent": "moneta",
        ...(options.accept === undefined ? {} : { accept: options.accept }),
      },
    });
    const { statusCode: status, headers } = response;
    if (status === 200) {
      const length = Number(headers["content-length"] ?? 0);
      if (length <= options.maxBytes) return response;
      discard(response);
      throw tooLarge(options.maxBytes);
    }
    discard(response);
    const location = [301, 302, 303, 307, 308].includes(status) ? headers["location"] : undefined;
    if (typeof location !== "string") throw refused(status);
    if (redirects === MAX_REDIRECTS)
      throw new MediaError("media_unavailable", `It redirects more than ${MAX_REDIRECTS.toString()} times.`);
    url = parseHttpUrl(location, url.href);
  }
}

/** @throws MediaError for schemes other than http(s): a `file:` URL, for example, would read from this machine. */
function parseHttpUrl(text: string, base?: string): URL {
  const url = URL.parse(text, base);
  if (url === null) throw new MediaError("media_unavailable", "It is not a URL.");
  if (!["http:", "https:"].includes(url.protocol))
    throw new MediaError("media_blocked", `It leads to a ${url.protocol} URL; only http and https are allowed.`);
  return url;
}

function refused(status: number): MediaError {
  const transient = status >= 500 || [408, 425, 429].includes(status);
  return new MediaError("media_unavailable", `The server answered ${status.toString()}.`, { transient });
}

function tooLarge(maxBytes: number): MediaError {
  return new MediaError("media_too_large", `It is larger than ${maxBytes.toString()} bytes.`);
}

/** Closes the connection without reading the body, which could be endless. */
function discard(response: Dispatcher.ResponseData): void {
  response.body.on("error", () => undefined).destroy();
}

/**
 * Decompresses, because some servers compress without being asked. `maxBytes` bounds the bytes before and after it. Only one
 * coding is accepted, so no decoder works on more than `maxBytes` of input.
 */
function decompressed(response: Dispatcher.ResponseData, options: DownloadOptions): AsyncIterable<Uint8Array> {
  const header = response.headers["content-encoding"] ?? "";
  const codings = (Array.isArray(header) ? header.join(",") : header)
    .split(",")
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== "" && coding !== "identity");
  const [coding] = codings;
  if (coding === undefined) return response.body;
  const decoder = codings.length === 1 ? decoderOf(coding) : null;
  if (decoder === null) {
    discard(response);
    throw new MediaError("media_unavailable", "Its content coding is not supported.");
  }
  // An error in any step destroys the decoder with that error, and its reader throws it.
  pipeline(
    response.body,
    (bytes) => bounded(bytes, options.maxBytes, () => tooLarge(options.maxBytes)),
    decoder,
    () => undefined,
  );
  return decoder;
}

function decoderOf(coding: string) {
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    case "zstd":
      // By default a few bytes can ask for a window of 128 MiB.
      return createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_BITS } });
    default:
      return null;
  }
}

/** The error that the app sees. It contains no address of this machine or its network. */
function describe(error: unknown, signal: AbortSignal): MediaError {
  if (error instanceof MediaError) return error;
  // Not transient: a server that is too slow once is probably too slow again.
  if (signal.aborted)
    return new MediaError("media_unavailable", "The download did not finish in time.", { cause: error });
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
  if (code === "BLOCKED_ADDRESS") {
    return new MediaError("media_blocked", `It leads to an address that is not public. ${HOW_TO_ALLOW}`, {
      cause: error,
    });
  }
  if (code === "ZSTD_error_frameParameter_windowTooLarge") {
    const most = `${(2 ** (ZSTD_WINDOW_BITS - 20)).toString()} MiB`;
    return new MediaError("media_unavailable", `Its zstd window is larger than ${most}.`, { cause: error });
  }
  if (["Z_", "ZSTD_", "ERR_"].some((start) => code?.startsWith(start) === true)) {
    return new MediaError("media_unavailable", "The bytes do not match the declared content coding.", { cause: error });
  }
  const reason = code === null ? "The connection failed." : `The connection failed (${code}).`;
  return new MediaError("media_unavailable", reason, { transient: true, cause: error });
}
