import { createHash } from "node:crypto";

import { getAddress } from "ethers";
import { type Response, Router } from "express";

import { ApiError } from "../../domain/error-codes.ts";
import { publishedCollectionMetadata, publishedTokenMetadata } from "../../domain/metadata-files.ts";
import { MAX_TOKEN_ID } from "../../domain/token.ts";
import { confirmedBlock } from "../../store/db/meta.ts";
import type { Db } from "../../store/db/sql.ts";
import { findCollection, type StoredCollection } from "../../store/listings/collections.ts";
import { findMintedNft, mayBeMinted } from "../../store/listings/nfts.ts";
import type { HttpDeps } from "../deps.ts";
import { refuseMethod } from "../errors.ts";
import { STRANGER } from "../held-bytes.ts";
import { NewTokens } from "./new-tokens.ts";

/** Seconds for which others may cache final metadata: its app can still change it. */
const MAX_AGE = 300;

/**
 * Public metadata of hosted collections and their tokens, for marketplaces and browsers on any origin. Those of adopted collections
 * are answered once they were copied here, with all their fields as they came.
 */
export function hostedMetadata(deps: HttpDeps): Router {
  const router = Router();
  const newTokens = new NewTokens(deps.signals.deliveries);
  router.use((_request, response, next) => {
    response.set("Access-Control-Allow-Origin", "*").set("Cross-Origin-Resource-Policy", "cross-origin");
    next();
  });
  router.get("/:chain_id/:collection", async (request, response) => {
    const { chain_id: chainId, collection } = request.params;
    answer(
      deps,
      response,
      chainId === deps.chainId.toString() ? await collectionDocument(deps.database.read, collection) : null,
    );
  });
  router.get("/:chain_id/:collection/:token_id", async (request, response) => {
    const { chain_id: chainId, collection, token_id: tokenId } = request.params;
    const id = chainId === deps.chainId.toString() ? readTokenId(tokenId) : null;
    const hosted = id === null ? null : await findHosted(deps.database.read, collection);
    if (id === null || hosted === null) throw new ApiError("not_found");
    const read = () => tokenDocument(deps.database.read, hosted, id);
    const waits = async () => mayBeMinted(deps.database.read, hosted, id);
    answer(deps, response, (await read()) ?? ((await waits()) ? await newTokens.waitFor(response, read) : null));
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
    refuseMethod(response, "GET, HEAD, OPTIONS");
  });
  return router;
}

function answer({ bytes }: HttpDeps, response: Response, document: Document | null): void {
  if (document === null) throw new ApiError("not_found");
  const { content } = document;
  const text = typeof content === "string" ? content : JSON.stringify(content);
  const tag = `"${createHash("sha256").update(text).digest("base64url")}"`;
  response.set("ETag", tag).set("Cache-Control", document.final ? `public, max-age=${MAX_AGE.toString()}` : "no-store");
  // Compared here because Express ignores the tag when `fetch` adds `Cache-Control: no-cache`.
  if (tagsOf(response.req.get("if-none-match")).includes(tag)) response.status(304).end();
  else bytes.end(response.set("Content-Type", "application/json; charset=utf-8"), STRANGER, Buffer.from(text));
}

function tagsOf(header: string | undefined): string[] {
  return (header ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
}

interface Document {
  /** A text is JSON, and stays as it is. */
  content: object | string;
  /** Whether the block of the mint is final. Before that the document must not be cached. */
  final: boolean;
}

/** @returns null when there is no such hosted collection. */
async function collectionDocument(db: Db, address: string): Promise<Document | null> {
  const collection = await findHosted(db, address);
  if (collection === null) return null;
  const { hosting, metadata, json, listed } = collection;
  if (hosting !== "hosted" && Object.keys(metadata).length === 0) return null;
  return { content: hosting === "hosted" ? publishedCollectionMetadata(collection) : json, final: listed === 1 };
}

/** @returns null when there is no such token with hosted metadata. */
async function tokenDocument(db: Db, { address, hosting }: StoredCollection, id: string): Promise<Document | null> {
  const confirmed = await confirmedBlock(db);
  const nft = await findMintedNft(db, address, id);
  if (nft?.metadata == null || nft.minted_block === null || nft.supply === "0") return null;
  const content = hosting === "hosted" ? publishedTokenMetadata(nft.metadata, id) : (nft.json ?? "");
  return { content, final: nft.minted_block <= confirmed };
}

async function findHosted(db: Db, text: string): Promise<StoredCollection | null> {
  const address = readAddress(text);
  const collection = address === null ? undefined : await findCollection(db, address);
  return collection?.hosting === "hosted" || collection?.adopted === 1 ? collection : null;
}

function readAddress(text: string): string | null {
  // Links may have changed the case of letters, so the checksum is not checked here.
  return /^0x[0-9a-fA-F]{40}$/.test(text) ? getAddress(text.toLowerCase()) : null;
}

/** Exactly 64 digits are hexadecimal, as ERC-1155 clients write an id; anything else is decimal. */
function readTokenId(text: string): string | null {
  if (/^[0-9a-fA-F]{64}$/.test(text)) return BigInt(`0x${text}`).toString();
  if (!/^[0-9]{1,78}$/.test(text) || BigInt(text) > MAX_TOKEN_ID) return null;
  return BigInt(text).toString();
}
