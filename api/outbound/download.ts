import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";

import { type Dispatcher, request } from "undici";

/** Why something cannot be had: the URL leads where it must not, there is too much of it, or it is not to be had. */
export type DownloadProblem = "blocked" | "too_large" | "unavailable";

export class DownloadError extends Error {
  override readonly name = "DownloadError";
  readonly problem: DownloadProblem;
  /** Whether another try may do better. */
  readonly transient: boolean;

  constructor(problem: DownloadProblem, message: string, options: { transient?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.problem = problem;
    this.transient = options.transient ?? false;
  }
}

export interface DownloadOptions {
  /** Connects to allowed addresses only. */
  agent: Dispatcher;
  /** Most bytes, both as they are sent and unpacked. */
  maxBytes: number;
  /** Ends it at the deadline, wherever it is. */
  signal: AbortSignal;
  /** Media type that is asked for. */
  accept?: string;
}

const MAX_REDIRECTS = 5;
/** Codings on top of each other. Nobody needs more than one. */
const MAX_CODINGS = 2;

/**
 * The bytes behind an http(s) URL that a stranger gave. Redirects are followed one by one, so that each is checked like
 * the first URL.
 * @throws DownloadError
 */
export async function* download(url: string, options: DownloadOptions): AsyncGenerator<Uint8Array> {
  try {
    const response = await follow(url, options);
    yield* bounded(unpacked(response, options), options.maxBytes);
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
    if (redirects === MAX_REDIRECTS) throw new DownloadError("unavailable", "It redirects too often.");
    url = parseHttpUrl(location, url.href);
  }
}

/** @throws DownloadError for every other scheme: `file:` and the like lead into this machine. */
function parseHttpUrl(text: string, base?: string): URL {
  const url = URL.parse(text, base);
  if (url === null) throw new DownloadError("unavailable", "It is not a URL.");
  if (!["http:", "https:"].includes(url.protocol))
    throw new DownloadError("blocked", `It leads to a ${url.protocol} URL.`);
  return url;
}

function refused(status: number): DownloadError {
  const transient = status >= 500 || [408, 425, 429].includes(status);
  return new DownloadError("unavailable", `The server answered ${status.toString()}.`, { transient });
}

function tooLarge(maxBytes: number): DownloadError {
  return new DownloadError("too_large", `It is larger than ${maxBytes.toString()} bytes.`);
}

/** An answer that is not read. Its connection goes with it: the rest could be endless. */
function discard(response: Dispatcher.ResponseData): void {
  response.body.on("error", () => undefined).destroy();
}

/** Servers pack what nobody asked them to. What comes out is counted like any other bytes: a bomb ends at the limit. */
function unpacked(response: Dispatcher.ResponseData, options: DownloadOptions): AsyncIterable<Uint8Array> {
  const header = response.headers["content-encoding"] ?? "";
  const codings = (Array.isArray(header) ? header.join(",") : header)
    .split(",")
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== "" && coding !== "identity");
  const unpackers = codings
    .slice(-MAX_CODINGS - 1)
    .reverse()
    .map(unpackerOf);
  if (unpackers.length === 0) return response.body;
  if (unpackers.length > MAX_CODINGS || unpackers.includes(null)) {
    discard(response);
    throw new DownloadError("unavailable", "It is packed in a way that is not understood.");
  }
  const last = unpackers.at(-1) as unknown as Readable;
  const steps = [bounded(response.body, options.maxBytes), ...unpackers] as unknown as NodeJS.ReadWriteStream[];
  // An error anywhere ends the last stream with it, which is where it is thrown from.
  pipeline(steps, () => undefined);
  return last;
}

function unpackerOf(coding: string) {
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    case "zstd":
      return createZstdDecompress();
    default:
      return null;
  }
}

async function* bounded(source: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let total = 0;
  for await (const chunk of source) {
    total += chunk.length;
    if (total > maxBytes) throw tooLarge(maxBytes);
    yield chunk;
  }
}

/** For the app: what went wrong, without addresses of this side. */
function describe(error: unknown, signal: AbortSignal): DownloadError {
  if (error instanceof DownloadError) return error;
  // A server that lets the time run out would do so again.
  if (signal.aborted) return new DownloadError("unavailable", "It did not arrive in time.", { cause: error });
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
  if (code === "BLOCKED_ADDRESS") {
    return new DownloadError("blocked", "It leads to an address that is not public.", { cause: error });
  }
  if (code?.startsWith("Z_") === true || code?.startsWith("ERR_") === true) {
    return new DownloadError("unavailable", "It is not packed as it says.", { cause: error });
  }
  const reason = code === null ? "The connection failed." : `The connection failed (${code}).`;
  return new DownloadError("unavailable", reason, { transient: true, cause: error });
}
