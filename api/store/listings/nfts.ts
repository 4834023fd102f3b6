import { sql } from "kysely";

import type { CollectionType, Hosting, TokenMetadata } from "../../domain/command.ts";
import { parseExact } from "../../shared/exact-json.ts";
import { counterKeys, readCounter } from "../db/counters.ts";
import type { Db } from "../db/sql.ts";
import { readMeta } from "../db/meta.ts";
import { type Page, type PageQuery, pageOf, rowsToFetch, rowsToSkip } from "../db/pages.ts";
import type { NftRow } from "../db/schema.ts";

/** A token's row, with its metadata parsed. */
interface StoredNft extends Omit<NftRow, "metadata"> {
  metadata: TokenMetadata | null;
}

/** Attributes may hold numbers that a JavaScript number would round. */
export function toTokenMetadata(text: string | null): TokenMetadata | null {
  return text === null ? null : (parseExact(text) as TokenMetadata);
}

/** Parses the metadata of a row. */
export function toNft<Row extends { metadata: string | null }>(
  row: Row,
): Omit<Row, "metadata"> & { metadata: TokenMetadata | null } {
  return { ...row, metadata: toTokenMetadata(row.metadata) };
}

/** The stored part of an NFT item. */
export interface NftView {
  seq: number;
  contract: string;
  tokenId: string;
  type: CollectionType;
  collectionName: string | null;
  /** null: a foreign contract. */
  hosting: Hosting | null;
  baseUri: string | null;
  tokenUri: string | null;
  metadata: TokenMetadata | null;
  mintedAt: number | null;
}

export interface CollectionNft extends NftView {
  supply: string;
  /** Holder of an ERC721 token. */
  owner: string | null;
}

/** Metadata up to this size comes with the rows of a page. Only older versions accepted larger ones than a few of these. */
const INLINE_BYTES = 262_144;

/** Bytes after which no more large metadata is read for a page. The API cuts its pages at this size. */
const ENOUGH_BYTES = 16 * INLINE_BYTES;

/** Columns of a listing: the metadata unless it is large, and its size in bytes. `withLargeMetadata` reads the rest. */
export const METADATA = [
  sql<string | null>`case when octet_length(nfts.metadata) <= ${sql.lit(INLINE_BYTES)} then nfts.metadata end`.as(
    "metadata",
  ),
  sql<number | null>`octet_length(nfts.metadata)`.as("metadataBytes"),
] as const;

interface MetadataColumns {
  contract: string;
  tokenId: string;
  metadata: string | null;
  metadataBytes: number | null;
}

/**
 * Reads large metadata one by one until a page is full, so that no page is many times as large in memory as it may be.
 * @param rows as fetched for the page.
 * @returns these rows, or the first ones and a shorter page.
 */
export async function withLargeMetadata<Row extends MetadataColumns>(
  db: Db,
  rows: readonly Row[],
  page: PageQuery,
): Promise<{ rows: Omit<Row, "metadataBytes">[]; page: PageQuery }> {
  const complete: Omit<Row, "metadataBytes">[] = [];
  let left = ENOUGH_BYTES;
  for (const { metadataBytes, ...row } of rows) {
    complete.push(row);
    const count = complete.length;
    left -= metadataBytes ?? 0;
    // The last row of all only says that there are more.
    if (row.metadata !== null || metadataBytes === null || count > page.limit) continue;
    if (left < 0 && count > 1) return { rows: complete, page: { ...page, limit: count - 1 } };
    row.metadata = await metadataOf(db, row);
  }
  return { rows: complete, page };
}

async function metadataOf(db: Db, { contract, tokenId }: Pick<MetadataColumns, "contract" | "tokenId">) {
  const query = db
    .selectFrom("nfts")
    .select("metadata")
    .where("contract", "=", contract)
    .where("token_id", "=", tokenId);
  return (await query.executeTakeFirst())?.metadata ?? null;
}

/** Tokens that are on chain and not burnt. */
function collectionNfts(db: Db, contract: string) {
  return (
    db
      .selectFrom("nfts")
      .innerJoin("collections", "collections.address", "nfts.contract")
      .select((eb) => [
        "nfts.seq as seq",
        "nfts.contract as contract",
        "nfts.token_id as tokenId",
        "collections.type as type",
        "collections.name as collectionName",
        "collections.hosting as hosting",
        "collections.base_uri as baseUri",
        "nfts.token_uri as tokenUri",
        ...METADATA,
        "nfts.minted_at as mintedAt",
        "nfts.supply as supply",
        // An ERC1155 id can have many holders. They have a listing of their own.
        eb
          .case()
          .when("collections.type", "=", "ERC721")
          .then(
            eb
              .selectFrom("holdings")
              .select("holdings.owner")
              .whereRef("holdings.contract", "=", "nfts.contract")
              .whereRef("holdings.token_id", "=", "nfts.token_id")
              .limit(1),
          )
          .end()
          .as("owner"),
      ])
      .where("nfts.contract", "=", contract)
      .where("nfts.minted_block", "is not", null)
      // A literal, not a parameter, so that the partial index is used.
      .where("nfts.supply", "<>", sql.lit("0"))
  );
}

/** In the order of their creation. */
export async function listNfts(db: Db, contract: string, page: PageQuery): Promise<Page<CollectionNft>> {
  let query = collectionNfts(db, contract);
  if (page.after !== null) query = query.where("nfts.seq", ">", page.after);
  const fetched = await query.orderBy("nfts.seq").limit(rowsToFetch(page)).offset(rowsToSkip(page)).execute();
  const total = await readCounter(db, counterKeys.nfts(contract));
  const { rows, page: fitting } = await withLargeMetadata(db, fetched, page);
  return pageOf(rows.map(toNft), total, fitting, (row) => row.seq);
}

export async function findNft(db: Db, contract: string, tokenId: string): Promise<CollectionNft | undefined> {
  const found = await collectionNfts(db, contract).where("nfts.token_id", "=", tokenId).execute();
  const { rows } = await withLargeMetadata(db, found, { limit: 1, offset: 0, after: null });
  return rows.map(toNft)[0];
}

/** The token, as soon as its mint is in a block. Burnt tokens are included. */
export async function findMintedNft(db: Db, contract: string, tokenId: string): Promise<StoredNft | undefined> {
  const row = await db
    .selectFrom("nfts")
    .selectAll()
    .where("contract", "=", contract)
    .where("token_id", "=", tokenId)
    .where("minted_block", "is not", null)
    .executeTakeFirst();
  return row && toNft(row);
}

/** Newest block that is deep enough to be final; -1 when there is none. */
export async function confirmedBlock(db: Db): Promise<number> {
  return Number((await readMeta(db, "confirmed_block")) ?? -1);
}
