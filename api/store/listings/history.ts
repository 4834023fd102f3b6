import { counterKeys, readCounter } from "../db/counters.ts";
import type { Db } from "../db/engine.ts";
import { type Page, type PageQuery, pageOf, rowsToFetch, rowsToSkip } from "../db/pages.ts";
import type { TransferRow } from "../db/schema.ts";

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

function entries(db: Db, appId: string) {
  return db
    .selectFrom("transfers")
    .leftJoin("requests", (join) =>
      join.onRef("requests.id", "=", "transfers.request_id").on("requests.app_id", "=", appId),
    )
    .select([
      "transfers.id as id",
      "transfers.type as type",
      "transfers.contract as contract",
      "transfers.token_id as token_id",
      "transfers.quantity as quantity",
      "transfers.from_address as from_address",
      "transfers.to_address as to_address",
      "transfers.transaction_hash as transaction_hash",
      "transfers.block_number as block_number",
      "transfers.timestamp as timestamp",
      "requests.id as request_id",
    ]);
}

/** Newest first. */
export async function listWalletHistory(
  db: Db,
  appId: string,
  wallet: string,
  page: PageQuery,
): Promise<Page<HistoryEntry>> {
  let query = entries(db, appId)
    .innerJoin("wallet_history", "wallet_history.transfer_id", "transfers.id")
    .where("wallet_history.wallet", "=", wallet);
  if (page.after !== null) query = query.where("wallet_history.transfer_id", "<", page.after);
  const rows = await query
    .orderBy("wallet_history.transfer_id", "desc")
    .limit(rowsToFetch(page))
    .offset(rowsToSkip(page))
    .execute();
  return pageOf(rows, await readCounter(db, counterKeys.walletHistory(wallet)), page, (row) => row.id);
}

/** Newest first. */
export async function listTokenHistory(
  db: Db,
  appId: string,
  token: { contract: string; tokenId: string },
  page: PageQuery,
): Promise<Page<HistoryEntry>> {
  let query = entries(db, appId)
    .where("transfers.contract", "=", token.contract)
    .where("transfers.token_id", "=", token.tokenId);
  if (page.after !== null) query = query.where("transfers.id", "<", page.after);
  const rows = await query.orderBy("transfers.id", "desc").limit(rowsToFetch(page)).offset(rowsToSkip(page)).execute();
  const total = await readCounter(db, counterKeys.tokenHistory(token.contract, token.tokenId));
  return pageOf(rows, total, page, (row) => row.id);
}
