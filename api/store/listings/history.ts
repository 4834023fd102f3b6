import type { SelectQueryBuilder } from "kysely";

import { counterKeys, readCounter } from "../db/counters.ts";
import type { Db } from "../db/sql.ts";
import { type Page, type PageQuery, pageOf, rowsToFetch, rowsToSkip } from "../db/pages.ts";
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
> & { request_id: string | null };

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
    ])
    .orderBy("move.id", "desc")
    .execute();
}

/** Newest first. */
export async function listWalletHistory(
  db: Db,
  appId: string,
  wallet: string,
  page: PageQuery,
): Promise<Page<HistoryEntry>> {
  const total = await readCounter(db, counterKeys.walletHistory(wallet));
  let ids = db.selectFrom("wallet_history").select("transfer_id").where("wallet", "=", wallet);
  if (page.after !== null) ids = ids.where("transfer_id", "<", page.after);
  const chosen = ids.orderBy("transfer_id", "desc").limit(rowsToFetch(page)).offset(rowsToSkip(page));
  const rows = await entries(db, appId, db.selectFrom("transfers").selectAll().where("id", "in", chosen));
  return pageOf(rows, total, page, (row) => row.id);
}

/** Newest first. */
export async function listTokenHistory(
  db: Db,
  appId: string,
  token: { contract: string; tokenId: string },
  page: PageQuery,
): Promise<Page<HistoryEntry>> {
  const total = await readCounter(db, counterKeys.tokenHistory(token.contract, token.tokenId));
  let query = db
    .selectFrom("transfers")
    .selectAll()
    .where("contract", "=", token.contract)
    .where("token_id", "=", token.tokenId);
  if (page.after !== null) query = query.where("id", "<", page.after);
  const chosen = query.orderBy("id", "desc").limit(rowsToFetch(page)).offset(rowsToSkip(page));
  const rows = await entries(db, appId, chosen);
  return pageOf(rows, total, page, (row) => row.id);
}
