import { pipeline } from "node:stream/promises";

import { type Request, type Response, Router } from "express";

import { SharedFiles, SLICE } from "../../content/shared-files.ts";
import { canonicalCid, parseCid } from "../../content/cids.ts";
import { type ContentFile, isDamage } from "../../content/content.ts";
import { isHarmless, isPicture, sniffMediaType } from "../../content/media-type.ts";
import { ApiError } from "../../domain/error-codes.ts";
import { findMediaType } from "../../store/media/media.ts";
import type { HttpDeps } from "../deps.ts";
import { refuseMethod } from "../errors.ts";
import { STRANGER } from "../held-bytes.ts";

interface IpfsDeps extends HttpDeps {
  files: SharedFiles;
}

/** Seconds to wait when a block is damaged: the operator may have repaired it by then. */
const RETRY_AFTER = 60;

/** Content hosted on IPFS, over HTTP. It is public, and content under one address never changes. */
export function ipfsGateway(all: HttpDeps): Router {
  const deps = { ...all, files: new SharedFiles(all.blocks) };
  const router = Router();
  const paths = ["/:cid", "/:cid/*path"];
  router.use((_request, response, next) => {
    response
      .set("Access-Control-Allow-Origin", "*")
      .set("Access-Control-Expose-Headers", "Accept-Ranges, Content-Length, Content-Range, ETag")
      .set("Cross-Origin-Resource-Policy", "cross-origin");
    next();
  });
  router.get(paths, async (request, response) => {
    const { cid, path } = request.params as { cid: string; path?: string[] };
    const file = await find(deps, cid, path ?? []);
    if (file === null) throw new ApiError("not_found");
    await send(deps, request, response, file);
  });
  router.options(paths, (_request, response) => {
    response
      .set("Access-Control-Allow-Methods", "GET, HEAD")
      .set("Access-Control-Allow-Headers", "*")
      .status(204)
      .end();
  });
  router.all(paths, (_request, response) => {
    refuseMethod(response, "GET, HEAD, OPTIONS");
  });
  return router;
}

/** @throws ApiError `unavailable` when a block is missing or corrupt. The log names the block. */
async function find(deps: IpfsDeps, text: string, path: string[]): Promise<ContentFile | null> {
  const cid = parseCid(text);
  if (cid === null) return null;
  return guarded(deps, () => deps.files.find(cid, path.join("/")));
}

async function guarded<T>(deps: IpfsDeps, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isDamage(error)) throw error;
    deps.logger.error(
      { err: error },
      "A block of hosted content is missing or corrupt. Run `npm run cli -- doctor --media`",
    );
    const message =
      "Part of this content is missing or damaged in the service's store. Tell its operator, then try again.";
    throw new ApiError("unavailable", null, { retryAfter: RETRY_AFTER, message });
  }
}

async function send(deps: IpfsDeps, request: Request, response: Response, file: ContentFile): Promise<void> {
  const tag = `"${canonicalCid(file.cid)}"`;
  if (matches(request.get("if-none-match"), tag)) {
    protect(response);
    describe(response, tag).status(304).end();
    return;
  }
  const sameContent = request.get("if-range") === undefined || request.get("if-range") === tag;
  const range = readRangeHeader(sameContent ? request.get("range") : undefined, file.size);
  if (range === "unsatisfiable") {
    response.set("Content-Range", `bytes */${file.size.toString()}`);
    throw new ApiError("range_not_satisfiable");
  }
  const { offset, length } = range ?? { offset: 0, length: file.size };
  const type = await typeOf(deps, file);
  const held = Math.min(length, SLICE);
  deps.bytes.requireFit(request, STRANGER, held);
  // Read the first block before any header is set: if it is damaged, the answer is still a plain error.
  const blocks = file.read(offset, length)[Symbol.asyncIterator]();
  const first = request.method === "HEAD" ? null : await guarded(deps, () => blocks.next());
  protect(response);
  if (!isHarmless(type) && !isPicture(type)) response.set("Content-Disposition", "attachment");
  describe(response, tag).set("Content-Length", length.toString());
  // Express's `set` would add a charset that is not known.
  response.setHeader("Content-Type", type);
  if (range !== null) {
    const last = (offset + length - 1).toString();
    response.status(206).set("Content-Range", `bytes ${offset.toString()}-${last}/${file.size.toString()}`);
  }
  if (first === null) response.end();
  else {
    deps.bytes.hold(response, STRANGER, held);
    await stream(deps, response, first, blocks);
  }
}

function describe(response: Response, tag: string): Response {
  return response
    .set("ETag", tag)
    .set("Cache-Control", "public, max-age=31536000, immutable")
    .set("Accept-Ranges", "bytes");
}

async function stream(
  deps: IpfsDeps,
  response: Response,
  first: IteratorResult<Uint8Array>,
  blocks: AsyncIterator<Uint8Array>,
): Promise<void> {
  const body = async function* () {
    try {
      for (let block = first; block.done !== true; block = await blocks.next()) yield block.value;
    } finally {
      await blocks.return?.();
    }
  };
  try {
    await pipeline(body, response);
  } catch (error) {
    // Either the caller disconnected, or the content is damaged here: closing the connection early tells the caller.
    if (isDamage(error))
      deps.logger.error({ err: error }, "A damaged block ended an answer early. Run `npm run cli -- doctor --media`");
    else if (!response.destroyed) throw error;
    response.destroy();
  }
}

/** The media type that was stored on arrival. Files of a directory have none and are sniffed now. */
async function typeOf(deps: IpfsDeps, file: ContentFile): Promise<string> {
  const stored = await findMediaType(deps.database.read, canonicalCid(file.cid));
  if (stored !== null) return stored;
  return guarded(deps, () => sniffMediaType(file.read()));
}

/**
 * Third parties choose the content, so none of it may run on this origin. Browsers must not sniff types, markup runs in a
 * sandbox without scripts, and anything other than plain media is downloaded instead of shown.
 */
function protect(response: Response): void {
  response
    .set("X-Content-Type-Options", "nosniff")
    .set(
      "Content-Security-Policy",
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src 'self'; sandbox",
    );
}

function matches(header: string | undefined, tag: string): boolean {
  const tags = (header ?? "").split(",").map((part) => part.trim().replace(/^W\//, ""));
  return tags.includes(tag) || tags.includes("*");
}

/** A part of some content: its first byte and its length. */
interface Range {
  offset: number;
  length: number;
}

/**
 * Reads a `Range` header (RFC 9110). The package `range-parser` cannot replace this: it refuses a suffix longer than the
 * content, which RFC 9110 answers with the whole, and it answers 416 to headers that servers must ignore ("bytes=5-2").
 * @returns null when the answer is the whole content: the header is missing or invalid, or asks for another unit or for
 *   several parts; "unsatisfiable" when the range is outside the content.
 */
export function readRangeHeader(header: string | undefined, size: number): Range | "unsatisfiable" | null {
  const match = /^bytes=(\d{0,16})-(\d{0,16})$/.exec((header ?? "").trim());
  const [, first = "", last = ""] = match ?? [];
  if (match === null || (first === "" && last === "")) return null;
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "unsatisfiable" : { offset: size - length, length };
  }
  const offset = Number(first);
  const end = last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== "" && Number(last) < offset) return null;
  return offset >= size ? "unsatisfiable" : { offset, length: end - offset + 1 };
}
