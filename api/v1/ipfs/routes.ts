import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import { type Request, type Response, Router } from "express";

import { ApiError } from "../../domain/error-codes.ts";
import { canonicalCid, parseCid } from "../../ipfs/cids.ts";
import { type ContentFile, findFile, isDamage } from "../../ipfs/content.ts";
import { isHarmless, isPicture, SNIFF_BYTES, sniffMediaType } from "../../ipfs/media-type.ts";
import { findMediaType } from "../../store/media/media.ts";
import type { HttpDeps } from "../deps.ts";
import { readRange } from "./range.ts";

type IpfsDeps = Pick<HttpDeps, "database" | "blocks" | "logger">;

/** Seconds after which a damaged part of the store may have been mended. */
const RETRY_AFTER = 60;

/** What the service hosts on IPFS, over HTTP: public, and the same for ever under the same address. */
export function ipfsGateway(deps: IpfsDeps): Router {
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
    response.set("Allow", "GET, HEAD, OPTIONS");
    throw new ApiError("method_not_allowed");
  });
  return router;
}

/** @throws ApiError `unavailable` when a block is missing or corrupt, which the log names. */
async function find(deps: IpfsDeps, text: string, path: string[]): Promise<ContentFile | null> {
  const cid = parseCid(text);
  if (cid === null) return null;
  return guarded(deps, () => findFile(deps.blocks, cid, path.join("/")));
}

async function guarded<T>(deps: IpfsDeps, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isDamage(error)) throw error;
    deps.logger.error({ err: error }, "hosted content is damaged: run `npm run cli -- doctor --media`");
    throw new ApiError("unavailable", null, { retryAfter: RETRY_AFTER });
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
  const range = readRange(sameContent ? request.get("range") : undefined, file.size);
  if (range === "unsatisfiable") {
    response.set("Content-Range", `bytes */${file.size.toString()}`);
    throw new ApiError("range_not_satisfiable");
  }
  const { offset, length } = range ?? { offset: 0, length: file.size };
  const type = await typeOf(deps, file);
  // The first block is read before anything is said: where it is damaged the answer can still be an error, and has
  // nothing of the content's own headers.
  const blocks = file.read(offset, length)[Symbol.asyncIterator]();
  const first = request.method === "HEAD" ? null : await guarded(deps, () => blocks.next());
  protect(response);
  if (!isHarmless(type) && !isPicture(type)) response.set("Content-Disposition", "attachment");
  describe(response, tag).set("Content-Length", length.toString());
  // Not by `set`, which adds a charset that nobody told.
  response.setHeader("Content-Type", type);
  if (range !== null) {
    const last = (offset + length - 1).toString();
    response.status(206).set("Content-Range", `bytes ${offset.toString()}-${last}/${file.size.toString()}`);
  }
  if (first === null) response.end();
  else await stream(deps, response, first, blocks);
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
    await pipeline(Readable.from(body(), { objectMode: false, highWaterMark: 65_536 }), response);
  } catch (error) {
    // Whoever asked has gone away; or the content breaks off here, which a connection that ends early tells them.
    if (isDamage(error)) deps.logger.error({ err: error }, "hosted content broke off while it was sent");
    else if (!response.destroyed) throw error;
    response.destroy();
  }
}

/** As it was told on arrival; parts of a directory were not looked at then, and are now. */
async function typeOf(deps: IpfsDeps, file: ContentFile): Promise<string> {
  const stored = await findMediaType(deps.database.read, canonicalCid(file.cid));
  if (stored !== null) return stored;
  return guarded(deps, async () => {
    const head: Uint8Array[] = [];
    for await (const part of file.read(0, Math.min(SNIFF_BYTES, file.size))) head.push(part);
    return sniffMediaType(Buffer.concat(head));
  });
}

/**
 * Strangers choose the content, so none of it may run on this origin: nothing is guessed, markup gets an origin of its
 * own without scripts, and what is not a picture, film or the like is not shown at all, only saved.
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
