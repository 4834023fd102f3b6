import { sql } from "kysely";

import type { CollectionMetadata, CollectionKind, CreateCollection } from "../../domain/command.ts";
import type { RescueReport } from "../../domain/rescue-report.ts";
import type { Verified } from "../../domain/verification.ts";
import { compiledSetQuery } from "../db/compiled-query.ts";
import { counterKeys, readCounter } from "../db/counters.ts";
import { blockOf } from "../db/meta.ts";
import { type Db, inParts, rowSet, type SetColumns, textSet, type Trx } from "../db/sql.ts";
import {
  DIRECTIONS,
  ENOUGH_BYTES,
  type Order,
  type Page,
  type PageQuery,
  pageOf,
  rowsToFetch,
  rowsToSkip,
} from "../db/pages.ts";
import { beginningOf, beginsWith } from "../db/prefix.ts";
import type { CollectionRow } from "../db/schema.ts";

/** A collection's row, with its metadata parsed. */
export interface StoredCollection extends Omit<CollectionRow, "metadata" | "rescue"> {
  metadata: CollectionMetadata;
  /** The JSON of it. */
  json: string;
  /** How far an adopted contract is stored; null: the service deployed it. */
  adoption: Adoption | null;
  /** What the last rescue found; null: there was none. */
  rescue: RescueReport | null;
}

interface Adoption {
  state: "reading" | "followed" | "quarantined";
  /** Up to this block it is stored. */
  asOf: number;
  /** Up to this block the chain is stored. */
  checkpoint: number;
  /** The function by which the service mints into it, as text; null: it does not. */
  mintFunction: string | null;
  /** Why minting is stopped; null: it is not. */
  mintingStopped: string | null;
}

function toCollection(row: CollectionRow): StoredCollection {
  const metadata = JSON.parse(row.metadata) as CollectionMetadata;
  const rescue = row.rescue === null ? null : (JSON.parse(row.rescue) as RescueReport);
  return { ...row, json: row.metadata, metadata, adoption: null, rescue };
}

/** With the progress of those that are adopted. */
async function toCollections(db: Db, rows: readonly CollectionRow[]): Promise<StoredCollection[]> {
  const adopted = rows.filter((row) => row.adopted === 1).map(({ address }) => address);
  const collections = rows.map(toCollection);
  if (adopted.length === 0) return collections;
  const { rows: found } = await sql<Adoption & { address: string }>`
    select address, state, coalesce(as_of, ${blockOf("checkpoint")}, 0) as "asOf",
           coalesce(${blockOf("checkpoint")}, 0) as "checkpoint", nullif(mint_function, '') as "mintFunction", stopped as "mintingStopped"
      from foreign_contracts left join minting on minting.contract = foreign_contracts.address
     where address in ${textSet(db, adopted)}`.execute(db);
  const states = new Map(found.map(({ address, ...state }) => [address, state]));
  return collections.map((collection) => ({ ...collection, adoption: states.get(collection.address) ?? null }));
}

/** A collection of any app, listed or not. For questions about the chain, not about ownership by an app. */
export async function findCollection(db: Db, address: string): Promise<StoredCollection | undefined> {
  const row = await db.selectFrom("collections").selectAll().where("address", "=", address).executeTakeFirst();
  return row && toCollection(row);
}

/** @returns undefined when the collection is not created yet, or belongs to another app. */
export async function findCollectionOfApp(
  db: Db,
  appId: string,
  address: string,
): Promise<StoredCollection | undefined> {
  const row = await db
    .selectFrom("collections")
    .selectAll()
    .where("address", "=", address)
    .where("app_id", "=", appId)
    .where("listed", "=", 1)
    .executeTakeFirst();
  return row && (await toCollections(db, [row]))[0];
}

const collectionsByAddress = compiledSetQuery(
  { address: "text" },
  (input) => sql<CollectionRow>`
    select collections.* from ${input} as input
      join collections on collections.address = input.address where collections.listed = 1`,
);

/**
 * The collections of calls that arrive together, in their order. Undefined: not created yet, or it belongs to another app.
 */
export async function findCollectionsOfApps(
  db: Db,
  calls: readonly { appId: string; address: string }[],
): Promise<(StoredCollection | undefined)[]> {
  const rows = await collectionsByAddress(
    db,
    [...new Set(calls.map(({ address }) => address))].map((address) => ({ address })),
  );
  const found = new Map((await toCollections(db, rows)).map((row) => [row.address, row]));
  return calls.map(({ appId, address }) => {
    const collection = found.get(address);
    return collection?.app_id === appId ? collection : undefined;
  });
}

/** Rows that are read at a time: their metadata may be large, and no more of it is read than an answer can have. */
const PART = 31;

/** Created collections. The page has fewer than asked for if they are large. */
export async function listCollections(
  db: Db,
  appId: string,
  order: Order,
  page: PageQuery,
): Promise<Page<StoredCollection>> {
  const total = await readCounter(db, counterKeys.collections(appId));
  const { follows, direction } = DIRECTIONS[order];
  const read = (after: number | null, skipped: number, limit: number) => {
    let query = db.selectFrom("collections").selectAll().where("app_id", "=", appId).where("listed", "=", 1);
    if (after !== null) query = query.where("seq", follows, after);
    return query.orderBy("seq", direction).limit(limit).offset(skipped).execute();
  };
  const wanted = rowsToFetch(page);
  const rows = await read(page.after, rowsToSkip(page), Math.min(PART, wanted));
  let mayFollow = rows.length === PART && PART < wanted;
  while (mayFollow && sizeOf(rows) <= ENOUGH_BYTES) {
    const part = await read(rows.at(-1)?.seq ?? null, 0, Math.min(PART, wanted - rows.length));
    rows.push(...part);
    mayFollow = part.length === PART && rows.length < wanted;
  }
  const limit = mayFollow ? rows.length - 1 : page.limit;
  return pageOf(await toCollections(db, rows), total, { ...page, limit }, (row) => row.seq);
}

function sizeOf(rows: readonly CollectionRow[]): number {
  return rows.reduce((sum, { metadata }) => sum + metadata.length, 0);
}

/** Created collections whose name or symbol begins with a text, oldest first: of each, the first in its own order. */
export async function searchCollections(
  db: Db,
  appId: string,
  search: string,
  limit: number,
): Promise<StoredCollection[]> {
  const first = (column: "name" | "symbol") =>
    db
      .selectFrom("collections")
      .select("seq")
      .where("app_id", "=", appId)
      .where("listed", "=", sql.lit(1))
      .where(beginsWith(column, search))
      .orderBy(beginningOf(column))
      .orderBy("seq")
      .limit(limit);
  const found = db
    .selectFrom(first("name").as("named"))
    .select("seq")
    .union(db.selectFrom(first("symbol").as("marked")).select("seq"));
  const rows = await db
    .selectFrom("collections")
    .selectAll()
    .where("seq", "in", found)
    .orderBy("seq")
    .limit(limit)
    .execute();
  return toCollections(db, rows);
}

/** A collection that a request created. */
export interface NewCollection {
  request: { id: string; app_id: string };
  command: CreateCollection;
  address: string;
  owner: string;
  kind: CollectionKind;
  blockNumber: number;
  createdAt: number;
}

const COLUMNS = {
  address: "text",
  app_id: "text",
  request_id: "text",
  type: "text",
  hosting: "text",
  name: "text",
  symbol: "text",
  max_supply: "integer",
  soulbound: "integer",
  storage: "text",
  signed_burns: "integer",
  minted: "integer",
  reserved: "integer",
  owner: "text",
  base_uri: "text",
  collection_uri: "text",
  metadata: "text",
  service_may_mint: "integer",
  service_is_steward: "integer",
  metadata_frozen: "integer",
  royalty_frozen: "integer",
  copies: "text",
  listed: "integer",
  block_number: "integer",
  created_at: "integer",
} as const satisfies SetColumns<
  Exclude<keyof CollectionRow, "seq" | "verified" | "adopted" | "total_supply" | "rescue">
>;
const NAMES = sql.join(Object.keys(COLUMNS).map((name) => sql.ref(name)));

/** Stores collections. Each is listed once its block is deep enough. */
export async function insertCollections(trx: Trx, made: readonly NewCollection[]): Promise<void> {
  for (const part of inParts(made.map(rowOf))) {
    await sql`
      insert into collections (${NAMES}) select ${NAMES} from ${rowSet(trx, COLUMNS, part)} as input order by ord`.execute(
      trx,
    );
  }
}

function rowOf({ request, command, address, owner, kind, blockNumber, createdAt }: NewCollection) {
  return {
    address,
    app_id: request.app_id,
    request_id: request.id,
    type: command.type,
    hosting: command.hosting,
    name: command.name,
    symbol: command.symbol,
    max_supply: command.maxSupply,
    soulbound: command.soulbound ? 1 : 0,
    storage: command.type === "ERC721" ? kind.storage : "standard",
    signed_burns: kind.signedBurns ? 1 : 0,
    minted: 0,
    reserved: 0,
    owner,
    base_uri: command.baseUri,
    collection_uri: command.collectionUri,
    metadata: JSON.stringify(command.metadata),
    service_may_mint: 1,
    service_is_steward: command.newOwner === null ? 1 : 0,
    metadata_frozen: 0,
    royalty_frozen: 0,
    copies: command.type === "ERC1155" ? "0" : null,
    listed: 0,
    block_number: blockNumber,
    created_at: createdAt,
  };
}

/** Listed collections whose sources no verifier was found to have, in the order of their numbers. */
export function unverifiedCollections(
  db: Db,
  after: number,
  limit: number,
): Promise<{ seq: number; address: string }[]> {
  return db
    .selectFrom("collections")
    .select(["seq", "address"])
    .where("seq", ">", after)
    .where("listed", "=", 1)
    .where("adopted", "=", 0)
    .where((where) => where.or([where("verified", "is", null), where("verified", "=", "failed")]))
    .orderBy("seq")
    .limit(limit)
    .execute();
}

export async function storeVerified(trx: Trx, address: string, verified: Verified): Promise<void> {
  await trx.updateTable("collections").set({ verified }).where("address", "=", address).execute();
}
