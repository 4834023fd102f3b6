import { sql } from "kysely";

import type { CollectionType } from "../../domain/command.ts";
import { compiledQuery } from "../db/compiled-query.ts";
import { counterKeys, readCounter } from "../db/counters.ts";
import { blockOf, isFinalBlock } from "../db/meta.ts";
import type { Db } from "../db/sql.ts";
import { changedBlock, METADATA, type NftView, toTokenMetadata, withLargeMetadata } from "./nfts.ts";
import {
  type Page,
  type PageQuery,
  pageOf,
  rowsToFetch,
  rowsToSkip,
  type RowsWanted,
  rowsWanted,
} from "../db/pages.ts";
import type { HoldingKey } from "../../domain/token.ts";
import { storedHoldings } from "./stored-holdings.ts";

/** One token in a wallet. */
export interface HeldNft extends NftView {
  quantity: string;
  /** The block in which the quantity last changed. */
  changedBlock: number;
  /** Encrypted content that the holder of the token may see; null until the block in which it got the token is final. */
  unlockable: string | null;
  /** The request that has the unlockable content; null without content. */
  requestId: string | null;
  /** The block as of which the balance of a foreign token is known; null for the service's own tokens. */
  asOf: number | null;
}

export interface Holder {
  seq: number;
  owner: string;
  quantity: string;
  /** Whether the last change of the quantity is final. */
  final: boolean;
}

/** Narrows a wallet's listing to one contract, or to one token of it. */
export interface ContentsFilter {
  contract: string;
  tokenId: string | null;
}

type ContentsQuery = { owner: string; contract: string | null; tokenId: string | null } & RowsWanted;

/** Holdings of one owner. A holding without copies has no row. */
function holdingsOf(db: Db, wanted: ContentsQuery) {
  // A literal, so that the partial index is used.
  let query = db
    .selectFrom("holdings")
    .selectAll()
    .where("owner", "=", wanted.owner)
    .where("unlisted", "=", sql.lit(0));
  if (wanted.contract !== null) query = query.where("contract", "=", wanted.contract);
  if (wanted.tokenId !== null) query = query.where("token_id", "=", wanted.tokenId);
  if (wanted.after !== null) query = query.where("seq", ">", wanted.after);
  return query.orderBy("seq").limit(wanted.limit).offset(wanted.offset);
}

/** @param page the rows to complete. Only these are joined: rows that an offset skips cost one index lookup. */
function withNfts(db: Db, page: ReturnType<typeof holdingsOf>) {
  return (
    db
      .selectFrom(page.as("held"))
      .leftJoin("nfts", (join) =>
        join.onRef("nfts.contract", "=", "held.contract").onRef("nfts.token_id", "=", "held.token_id"),
      )
      // The condition lets the index of the few requests with such content answer.
      .leftJoin("requests", (join) =>
        join.onRef("requests.id", "=", "nfts.request_id").on("requests.unlockable", "is not", null),
      )
      .leftJoin("collections", "collections.address", "held.contract")
      .leftJoin("foreign_contracts", "foreign_contracts.address", "held.contract")
      .select((eb) => [
        "held.seq as seq",
        "held.contract as contract",
        "held.token_id as tokenId",
        "held.quantity as quantity",
        eb.fn.coalesce("collections.type", "foreign_contracts.type").as("type"),
        eb.fn.coalesce("collections.name", "foreign_contracts.name").as("collectionName"),
        "collections.hosting as hosting",
        "collections.base_uri as baseUri",
        "nfts.token_uri as tokenUri",
        ...METADATA,
        "nfts.minted_at as mintedAt",
        // The holder may read the content once the block of the transfer is final.
        changedBlock("held").as("changedBlock"),
        isFinalBlock(changedBlock("held")).as("isFinal"),
        sql<string | null>`case when held.since_block <= ${blockOf("confirmed_block")} then requests.unlockable end`.as(
          "unlockable",
        ),
        "requests.id as requestId",
        // The last block whose logs of the contract are stored; null for the service's own contracts, which are never uncertain.
        sql<number | null>`
          case when foreign_contracts.as_of < ${blockOf("checkpoint")} then foreign_contracts.as_of
               when foreign_contracts.address is not null then coalesce(${blockOf("checkpoint")}, 0) end`.as("asOf"),
        sql<number | null>`
          case when foreign_contracts.address is not null then
            (select block from uncertain_holdings as marked
              where marked.contract = held.contract and marked.owner = held.owner and marked.token_id = held.token_id)
          end`.as("uncertainAt"),
      ])
      // Every contract with a holding is a collection or a followed contract, so the type is never null.
      .$narrowType<{ type: CollectionType }>()
  );
}

const readContents = compiledQuery((db, wanted: ContentsQuery) =>
  withNfts(db, holdingsOf(db, wanted)).orderBy("held.seq"),
);

/** The tokens of a wallet, in the order in which it received them. */
export async function listContents(
  db: Db,
  owner: string,
  filter: ContentsFilter | null,
  page: PageQuery,
): Promise<Page<HeldNft>> {
  const total = await totalOfContents(db, owner, filter);
  // Without reading what is unlisted, which may be much.
  if (total === 0) return pageOf([], total, page, () => 0);
  const fetched = await readContents(db, {
    owner,
    contract: filter?.contract ?? null,
    tokenId: filter?.tokenId ?? null,
    ...rowsWanted(page),
  });
  const { rows, page: fitting } = await withLargeMetadata(db, fetched, page);
  return pageOf(rows.map(toHeld), total, fitting, (row) => row.seq);
}

interface HeldColumns {
  metadata: string | null;
  asOf: number | null;
  uncertainAt: number | null;
  changedBlock: number;
  isFinal: number;
}

function toHeld<Row extends HeldColumns>(row: Row) {
  const { uncertainAt, changedBlock } = row;
  const asOf = row.asOf === null || uncertainAt === null ? row.asOf : Math.min(row.asOf, Math.max(0, uncertainAt - 1));
  return {
    ...row,
    metadata: toTokenMetadata(row.metadata),
    asOf,
    // A balance that was read in a block that a reorg dropped is not final until it is read again.
    final: row.isFinal === 1 && (asOf === null || changedBlock <= asOf),
  };
}

async function totalOfContents(db: Db, owner: string, filter: ContentsFilter | null): Promise<number> {
  if (filter === null) return readCounter(db, counterKeys.holdings(owner));
  if (filter.tokenId === null) return readCounter(db, counterKeys.holdingsOfContract(owner, filter.contract));
  return (await isHeld(db, owner, filter.contract, filter.tokenId)) ? 1 : 0;
}

/** The holders of a token, in the order in which they received it. */
export async function listHolders(db: Db, contract: string, tokenId: string, page: PageQuery): Promise<Page<Holder>> {
  const total = await readCounter(db, counterKeys.owners(contract, tokenId));
  let query = db
    .selectFrom("holdings")
    .select(["seq", "owner", "quantity", isFinalBlock(changedBlock("holdings")).as("isFinal")])
    .where("contract", "=", contract)
    .where("token_id", "=", tokenId);
  if (page.after !== null) query = query.where("seq", ">", page.after);
  const rows = await query.orderBy("seq").limit(rowsToFetch(page)).offset(rowsToSkip(page)).execute();
  const holders = rows.map((row) => ({ ...row, final: row.isFinal === 1 }));
  return pageOf(holders, total, page, (row) => row.seq);
}

/** Those of the tokens for which a holding of the wallet is stored. */
export async function heldAmong<T extends HoldingKey>(db: Db, tokens: readonly T[]): Promise<T[]> {
  if (tokens.length === 0) return [];
  const stored = storedHoldings(db, tokens);
  const { rows } = await sql<{ ord: number }>`select ord from ${stored} as stored order by ord`.execute(db);
  return rows.flatMap(({ ord }) => tokens[ord] ?? []);
}

/** Whether a holding of the wallet is stored for the token. */
export async function isHeld(db: Db, owner: string, contract: string, tokenId: string): Promise<boolean> {
  return (await heldAmong(db, [{ owner, contract, tokenId }])).length > 0;
}
