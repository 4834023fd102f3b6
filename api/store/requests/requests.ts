import type { Command } from "../../domain/command.ts";
import { REQUEST_STATUSES, REQUEST_TYPES, type RequestStatus, type RequestType } from "../../domain/request.ts";
import { addToCounter, counterKeys } from "../db/counters.ts";
import { AT_ONCE } from "../db/due.ts";
import type { Db, Trx } from "../db/engine.ts";
import type { GasCharge } from "./gas-usage.ts";
import { type Page, type PageQuery, pageOf, rowsToFetch, rowsToSkip } from "../db/pages.ts";
import { type StoredRequest, toRequest } from "./stored-request.ts";

export interface NewRequest {
  id: string;
  appId: string;
  type: RequestType;
  command: Command;
  unlockable: string | null;
  collection: string | null;
  tokenId: string | null;
  /** null where gas is not limited. */
  gas?: GasCharge | null;
  now: number;
}

/** Stores an accepted request, free for a relayer to claim as soon as this commits. */
export async function insertRequest(trx: Trx, request: NewRequest): Promise<void> {
  await trx
    .insertInto("requests")
    .values({
      id: request.id,
      app_id: request.appId,
      type: request.type,
      status: "pending",
      command: JSON.stringify(request.command),
      unlockable: request.unlockable,
      ready_at: AT_ONCE,
      returns: 0,
      nft_collection: request.collection,
      nft_token_id: request.tokenId,
      gas_day: request.gas?.day ?? null,
      gas_charged: request.gas?.gas ?? null,
      created_at: request.now,
      updated_at: request.now,
    })
    .execute();
  await addToCounter(trx, counterKeys.requests(request.appId, "pending", request.type), 1);
  await addToCounter(trx, counterKeys.backlog(), 1);
}

export async function hasRequests(db: Db): Promise<boolean> {
  return (await db.selectFrom("requests").select("seq").limit(1).executeTakeFirst()) !== undefined;
}

/** @param appId null: any app's (for the operator). */
export async function findRequest(db: Db, appId: string | null, id: string): Promise<StoredRequest | undefined> {
  let query = db.selectFrom("requests").selectAll().where("id", "=", id);
  if (appId !== null) query = query.where("app_id", "=", appId);
  const row = await query.executeTakeFirst();
  return row && toRequest(row);
}

/** Newest first. */
export async function listRequests(
  db: Db,
  appId: string,
  filter: { status: RequestStatus | null; type: RequestType | null },
  page: PageQuery,
): Promise<Page<StoredRequest>> {
  let query = db.selectFrom("requests").selectAll().where("app_id", "=", appId);
  if (filter.status !== null) query = query.where("status", "=", filter.status);
  if (filter.type !== null) query = query.where("type", "=", filter.type);
  if (page.after !== null) query = query.where("seq", "<", page.after);
  const rows = await query.orderBy("seq", "desc").limit(rowsToFetch(page)).offset(rowsToSkip(page)).execute();
  const statuses = filter.status === null ? REQUEST_STATUSES : [filter.status];
  const types = filter.type === null ? REQUEST_TYPES : [filter.type];
  const keys = statuses.flatMap((status) => types.map((type) => counterKeys.requests(appId, status, type)));
  return pageOf(rows.map(toRequest), await sumOfCounters(db, keys), page, (row) => row.seq);
}

async function sumOfCounters(db: Db, keys: string[]): Promise<number> {
  const counters = await db.selectFrom("counters").select("value").where("key", "in", keys).execute();
  return counters.reduce((sum, counter) => sum + counter.value, 0);
}
