import { type RawBuilder, type SelectQueryBuilder, sql } from "kysely";

import type { CollectionType, Hosting, TokenMetadata } from "../../domain/command.ts";
import { parseExact } from "../../../client/rules/exact-json.ts";
import { compiledQuery } from "../db/compiled-query.ts";
import { counterKeys, readCounter } from "../db/counters.ts";
import type { Db } from "../db/sql.ts";
import { isFinalBlock } from "../db/meta.ts";
import {
  ENOUGH_BYTES,
  DIRECTIONS,
  MOST_COUNTED,
  type Order,
  type Page,
  type PageQuery,
  pageOf,
  rowsToFetch,
  rowsToSkip,
  type RowsWanted,
  rowsWanted,
} from "../db/pages.ts";
import { beginningOf, beginsWith } from "../db/prefix.ts";
import type { CollectionRow, NftRow, Tables } from "../db/schema.ts";

/** A token's row, with its metadata parsed. */
interface StoredNft extends Omit<NftRow, "metadata"> {
  metadata: TokenMetadata | null;
  /** The same as JSON, as it is stored. */
  json: string | null;
}

/** Attributes may hold numbers that a JavaScript number would round. */
export function toTokenMetadata(text: string | null): TokenMetadata | null {
  return text === null ? null : (parseExact(text) as TokenMetadata);
}

/** The block in which the quantity of a holding last changed. Before 0.4.0 only its first block was stored. */
export function changedBlock(holding: "held" | "holdings"): RawBuilder<number> {
  return sql<number>`coalesce(${sql.ref(`${holding}.changed_block`)}, ${sql.ref(`${holding}.since_block`)})`;
}

/** Parses the metadata of a row. */
export function toNft<Row extends { metadata: string | null }>(
  row: Row,
): Omit<Row, "metadata"> & { metadata: TokenMetadata | null } {
  return { ...row, metadata: toTokenMetadata(row.metadata) };
}

function toView<Row extends { metadata: string | null; isFinal: number }>(row: Row) {
  return { ...toNft(row), final: row.isFinal === 1 };
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
  /** Whether the last change of the quantity, or of the owner, is final. */
  final: boolean;
}

export interface CollectionNft extends NftView {
  supply: string;
  /** Holder of an ERC721 token. */
  owner: string | null;
}

/** Metadata up to this size comes with the rows of a page. Only older versions accepted larger ones than a few of these. */
const INLINE_BYTES = 262_144;

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
): Promise<{ rows: Row[]; page: PageQuery }> {
  const complete: Row[] = [];
  let left = ENOUGH_BYTES;
  for (const row of rows) {
    const { metadata, metadataBytes } = row;
    const count = complete.length + 1;
    left -= metadataBytes ?? 0;
    // The last row of all only says that there are more.
    const isWhole = metadata !== null || metadataBytes === null || count > page.limit;
    if (!isWhole && left < 0 && count > 1) return { rows: [...complete, row], page: { ...page, limit: count - 1 } };
    // Most rows are whole. A copy of each would cost more than reading it.
    complete.push(isWhole ? row : { ...row, metadata: await metadataOf(db, row) });
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
  // A literal, not a parameter, so that the partial index is used.
  return mintedNfts(db, contract).where("nfts.supply", "<>", sql.lit("0"));
}

/** Tokens that were ever minted. */
function mintedNfts(db: Db, contract: string) {
  return db
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
      isFinalBlock(sql`coalesce(
        case when collections.type = 'ERC721' then
          (select ${changedBlock("holdings")} from holdings
            where holdings.contract = nfts.contract and holdings.token_id = nfts.token_id limit 1) end,
        nfts.changed_block, nfts.minted_block)`).as("isFinal"),
      // An ERC1155 id can have many holders. They have a listing of their own.
      eb
        .case()
        .when("collections.type", "=", sql.lit("ERC721"))
        .then(
          eb
            .selectFrom("holdings")
            .select("holdings.owner")
            .whereRef("holdings.contract", "=", "nfts.contract")
            .whereRef("holdings.token_id", "=", "nfts.token_id")
            .limit(sql.lit(1)),
        )
        .end()
        .as("owner"),
    ])
    .where("nfts.contract", "=", contract)
    .where("nfts.minted_block", "is not", null);
}

/** @returns a query for a part of a collection. */
function partOfCollection(order: Order) {
  const { follows, direction } = DIRECTIONS[order];
  return compiledQuery((db, wanted: { contract: string } & RowsWanted) => {
    let query = collectionNfts(db, wanted.contract);
    if (wanted.after !== null) query = query.where("nfts.seq", follows, wanted.after);
    return query.orderBy("nfts.seq", direction).limit(wanted.limit).offset(wanted.offset);
  });
}

const readPart = { newest: partOfCollection("newest"), oldest: partOfCollection("oldest") };

/** In the order of their creation. */
export async function listNfts(db: Db, contract: string, order: Order, page: PageQuery): Promise<Page<CollectionNft>> {
  const total = await readCounter(db, counterKeys.nfts(contract));
  const fetched = await readPart[order](db, { contract, ...rowsWanted(page) });
  const { rows, page: fitting } = await withLargeMetadata(db, fetched, page);
  return pageOf(rows.map(toView), total, fitting, (row) => row.seq);
}

/** Tokens of a collection whose names begin with a text, in the order of the names. */
export async function searchNfts(db: Db, contract: string, search: string, limit: number): Promise<CollectionNft[]> {
  const beginning = beginningOf("search_name");
  const wanted = db
    .selectFrom("nfts")
    .select(["seq as place", beginning.as("beginning")])
    .where("contract", "=", contract)
    // As the index has it, so that it is used.
    .where("search_name", "is not", null)
    .where("minted_block", "is not", null)
    .where("supply", "<>", sql.lit("0"))
    .where(beginsWith("search_name", search))
    .orderBy(beginning)
    .orderBy("seq")
    .limit(limit)
    .as("wanted");
  const found = await collectionNfts(db, contract)
    .innerJoin(wanted, (join) => join.onRef("wanted.place", "=", "nfts.seq"))
    .orderBy("wanted.beginning")
    .orderBy("wanted.place")
    .execute();
  // The last row may be there only to show that more follow: its metadata were not read then.
  const { rows, page } = await withLargeMetadata(db, found, { limit, offset: 0, after: null });
  return rows.slice(0, page.limit).map(toView);
}

/** The tokens of a collection that a wallet holds, or that have a trait. */
type NftFilter = { owner: string } | { trait: string };

/** Tokens of a collection that one wallet holds, in the order in which it received them. */
async function listNftsOfOwner(db: Db, contract: string, owner: string, page: PageQuery) {
  const holdings = db.selectFrom("holdings").where("owner", "=", owner).where("contract", "=", contract);
  const total = await countSome(db, holdings.select("seq").orderBy("seq").limit(MOST_COUNTED));
  let wanted = holdings.select(["seq", "contract", "token_id"]);
  if (page.after !== null) wanted = wanted.where("seq", ">", page.after);
  const held = wanted.orderBy("seq").limit(rowsToFetch(page)).offset(rowsToSkip(page)).as("held");
  const found = await collectionNfts(db, contract)
    .innerJoin(held, (join) =>
      join.onRef("held.contract", "=", "nfts.contract").onRef("held.token_id", "=", "nfts.token_id"),
    )
    .select("held.seq as place")
    .execute();
  return { rows: found.sort((a, b) => a.place - b.place), total };
}

/** Tokens of a collection with a trait, in the order of their creation. */
async function listNftsWithTrait(db: Db, contract: string, trait: string, page: PageQuery) {
  const having = db.selectFrom("token_traits").select("token_seq").where("trait", "=", trait);
  const total = await countSome(db, having.orderBy("token_seq").limit(MOST_COUNTED));
  const wanted = (page.after === null ? having : having.where("token_seq", ">", page.after))
    .orderBy("token_seq")
    .limit(rowsToFetch(page))
    .offset(rowsToSkip(page))
    .as("wanted");
  const found = await collectionNfts(db, contract)
    .innerJoin(wanted, (join) => join.onRef("wanted.token_seq", "=", "nfts.seq"))
    .select("wanted.token_seq as place")
    .execute();
  return { rows: found.sort((a, b) => a.place - b.place), total };
}

/** @param rows as many as are counted at most, in the order of an index: so PostgreSQL reads no whole table for them. */
async function countSome(db: Db, rows: SelectQueryBuilder<Tables, keyof Tables, object>): Promise<number> {
  const { count } = await db
    .selectFrom(rows.as("some"))
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return count;
}

/** A part of a collection. The total counts up to `MOST_COUNTED` tokens. */
export async function listSomeNfts(
  db: Db,
  contract: string,
  filter: NftFilter,
  page: PageQuery,
): Promise<Page<CollectionNft>> {
  const list =
    "owner" in filter
      ? await listNftsOfOwner(db, contract, filter.owner, page)
      : await listNftsWithTrait(db, contract, filter.trait, page);
  const { rows, page: fitting } = await withLargeMetadata(db, list.rows, page);
  return pageOf(rows.map(toView), list.total, fitting, (row) => row.place);
}

/** Burnt tokens are included: they have no owner. */
export async function findNft(db: Db, contract: string, tokenId: string): Promise<CollectionNft | undefined> {
  const found = await mintedNfts(db, contract).where("nfts.token_id", "=", tokenId).execute();
  const { rows } = await withLargeMetadata(db, found, { limit: 1, offset: 0, after: null });
  return rows.map(toView)[0];
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
  return row && { ...toNft(row), json: row.metadata };
}

/** Whether an accepted mint that is not stored yet may have made this token on chain. */
export async function mayBeMinted(
  db: Db,
  { address, type, minted, reserved }: Pick<CollectionRow, "address" | "type" | "minted" | "reserved">,
  tokenId: string,
): Promise<boolean> {
  if (type === "ERC721") return BigInt(tokenId) > minted && BigInt(tokenId) <= minted + reserved;
  const waiting = db.selectFrom("nfts").select("seq").where("contract", "=", address).where("token_id", "=", tokenId);
  return (await waiting.where("minted_block", "is", null).executeTakeFirst()) !== undefined;
}
