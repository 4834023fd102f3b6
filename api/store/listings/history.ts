import { type SelectQueryBuilder, sql } from "kysely";

import type { TokenKey } from "../../domain/token.ts";
import { compiledQuery } from "../db/compiled-query.ts";
import { counterKeys, readCounter } from "../db/counters.ts";
import { isFinalBlock, type MetaKey } from "../db/meta.ts";
import type { Db } from "../db/sql.ts";
import { type Page, type PageQuery, pageOf, pagesAfter, type RowsWanted, rowsWanted } from "../db/pages.ts";
import type { Tables, TransferRow } from "../db/schema.ts";

/** A movement of a token as one app sees it. Request ids of other apps are hidden. */
export type HistoryEntry = Pick<
  TransferRow,
  | "id"
  | "type"
  | "contract"
  | "token_id"
  | "quantity"
  | "from_address"
  | "to_address"
  | "transaction_hash"
  | "block_number"
  | "timestamp"
> & { request_id: string | null; final: boolean };

/** @param page the movements to complete. Only these are joined, not the rows that an offset skips. */
function entries(db: Db, appId: string, page: SelectQueryBuilder<Tables, "transfers", TransferRow>) {
  return db
    .selectFrom(page.as("move"))
    .leftJoin("requests", (join) => join.onRef("requests.id", "=", "move.request_id").on("requests.app_id", "=", appId))
    .select([
      "move.id as id",
      "move.type as type",
      "move.contract as contract",
      "move.token_id as token_id",
      "move.quantity as quantity",
      "move.from_address as from_address",
      "move.to_address as to_address",
      "move.transaction_hash as transaction_hash",
      "move.block_number as block_number",
      "move.timestamp as timestamp",
      "requests.id as request_id",
      isFinalBlock(sql.ref("move.block_number")).as("isFinal"),
    ])
    .orderBy("move.id", "desc");
}

function toEntry<Row extends { isFinal: number }>(row: Row) {
  return { ...row, final: row.isFinal === 1 };
}

/** A row number above all that may be shown: see `hidden-history.ts` of the ledger. */
function visibleBelow() {
  const key = sql.lit("history_hidden_from" satisfies MetaKey);
  const most = sql.lit(Number.MAX_SAFE_INTEGER);
  return sql<number>`coalesce((select cast(value as bigint) from meta where key = ${key}), ${most})`;
}

const ofWallet = compiledQuery((db, wanted: { appId: string; wallet: string } & RowsWanted) => {
  let ids = db
    .selectFrom("wallet_history")
    .select("transfer_id")
    .where("wallet", "=", wanted.wallet)
    .where("transfer_id", "<", visibleBelow());
  if (wanted.after !== null) ids = ids.where("transfer_id", "<", wanted.after);
  const chosen = ids.orderBy("transfer_id", "desc").limit(wanted.limit).offset(wanted.offset);
  return entries(db, wanted.appId, db.selectFrom("transfers").selectAll().where("id", "in", chosen));
});

const ofToken = compiledQuery((db, wanted: { appId: string; contract: string; tokenId: string } & RowsWanted) => {
  let query = db
    .selectFrom("transfers")
    .selectAll()
    .where("contract", "=", wanted.contract)
    .where("token_id", "=", wanted.tokenId)
    .where("id", "<", visibleBelow());
  if (wanted.after !== null) query = query.where("id", "<", wanted.after);
  return entries(db, wanted.appId, query.orderBy("id", "desc").limit(wanted.limit).offset(wanted.offset));
});

/** Newest first. */
export async function listWalletHistory(
  db: Db,
  appId: string,
  wallet: string,
  page: PageQuery,
): Promise<Page<HistoryEntry>> {
  const total = await readCounter(db, counterKeys.walletHistory(wallet));
  const rows = await ofWallet(db, { appId, wallet, ...rowsWanted(page) });
  return pageOf(rows.map(toEntry), total, page, (row) => row.id);
}

/** Newest first. */
export async function listTokenHistory(
  db: Db,
  appId: string,
  token: TokenKey,
  page: PageQuery,
): Promise<Page<HistoryEntry>> {
  const total = await readCounter(db, counterKeys.tokenHistory(token.contract, token.tokenId));
  const rows = await ofToken(db, { appId, contract: token.contract, tokenId: token.tokenId, ...rowsWanted(page) });
  return pageOf(rows.map(toEntry), total, page, (row) => row.id);
}

/** Rows that one statement of an export reads. */
const CHUNK = 250;

const ofCollection = compiledQuery((db, wanted: { appId: string; contract: string; tokenId: string; id: number }) =>
  entries(
    db,
    wanted.appId,
    db
      .selectFrom("transfers")
      .selectAll()
      .where("contract", "=", wanted.contract)
      .where(sql<boolean>`(token_id, id) > (${wanted.tokenId}, ${wanted.id})`)
      .where("id", "<", visibleBelow())
      .orderBy("token_id")
      .orderBy("id")
      .limit(sql.lit(CHUNK)),
  )
    .clearOrderBy()
    .orderBy("move.token_id")
    .orderBy("move.id"),
);

/** All movements of a collection's tokens: token by token in the order of the ids as text, each token's oldest first. */
export function exportHistory(db: Db, appId: string, contract: string): AsyncGenerator<HistoryEntry[]> {
  const read = async (after: { tokenId: string; id: number }) =>
    (await ofCollection(db, { appId, contract, ...after })).map(toEntry);
  return pagesAfter({ tokenId: "", id: 0 }, read, ({ token_id: tokenId, id }) => ({ tokenId, id }));
}
