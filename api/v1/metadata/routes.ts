import { createHash } from "node:crypto";

import { type Response, Router } from "express";

import { ApiError } from "../../domain/error-codes.ts";
import type { HttpDeps } from "../deps.ts";
import { collectionDocument, type Document, tokenDocument } from "./documents.ts";

/** Seconds for which others may cache final metadata: its app can still change it. */
const MAX_AGE = 300;

/** Public metadata of hosted collections and their tokens, for marketplaces and browsers on any origin. */
export function hostedMetadata(deps: Pick<HttpDeps, "database" | "chainId">): Router {
  const router = Router();
  router.use((_request, response, next) => {
    response.set("Access-Control-Allow-Origin", "*").set("Cross-Origin-Resource-Policy", "cross-origin");
    next();
  });
  router.get("/:chain_id/:collection", async (request, response) => {
    const { chain_id: chainId, collection } = request.params;
    answer(
      response,
      chainId === deps.chainId.toString() ? await collectionDocument(deps.database.read, collection) : null,
    );
  });
  router.get("/:chain_id/:collection/:token_id", async (request, response) => {
    const { chain_id: chainId, collection, token_id: tokenId } = request.params;
    const ours = chainId === deps.chainId.toString();
    answer(response, ours ? await tokenDocument(deps.database.read, collection, tokenId) : null);
  });
  const paths = ["/:chain_id/:collection", "/:chain_id/:collection/:token_id"];
  // Browsers send a preflight before `If-None-Match` to another origin.
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

function answer(response: Response, document: Document | null): void {
  if (document === null) throw new ApiError("not_found");
  const text = JSON.stringify(document.content);
  const tag = `"${createHash("sha256").update(text).digest("base64url")}"`;
  response.set("ETag", tag).set("Cache-Control", document.final ? `public, max-age=${MAX_AGE.toString()}` : "no-store");
  // Compared here because Express ignores the tag when `fetch` adds `Cache-Control: no-cache`.
  if (tagsOf(response.req.get("if-none-match")).includes(tag)) response.status(304).end();
  else response.set("Content-Type", "application/json; charset=utf-8").send(text);
}

function tagsOf(header: string | undefined): string[] {
  return (header ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
}
