import type { CollectionType } from "../../domain/command.ts";
import type { ContractState, QuarantineReason } from "../../domain/followed-contract.ts";
import { counterKeys, readCounter } from "../db/counters.ts";
import type { Db } from "../db/sql.ts";
import { checkpointOf } from "../db/meta.ts";
import { type Page, type PageQuery, pageOf, rowsToFetch, rowsToSkip } from "../db/pages.ts";

/** A contract that the service did not deploy and that an app follows. */
export interface FollowedContractView {
  seq: number;
  address: string;
  type: CollectionType | null;
  name: string | null;
  state: ContractState;
  reason: QuarantineReason | null;
  /** Last block whose logs were read; null when none was. */
  asOf: number | null;
  /** When the quarantine ends. */
  until: number | null;
  followedSince: number;
}

/** In the order in which the app began to follow them. */
export async function listFollowedContracts(
  db: Db,
  appId: string,
  page: PageQuery,
): Promise<Page<FollowedContractView>> {
  const total = await readCounter(db, counterKeys.contracts(appId));
  const checkpoint = await checkpointOf(db);
  let query = db
    .selectFrom("contract_follows as follow")
    .innerJoin("foreign_contracts as contract", "contract.address", "follow.address")
    .select(["follow.seq", "follow.address", "follow.created_at as followedSince"])
    .select(["contract.type", "contract.name", "contract.state", "contract.reason"])
    .select(["contract.as_of as stoppedAt", "contract.due_at as dueAt"])
    .where("follow.app_id", "=", appId)
    .where("follow.ended_at", "is", null);
  if (page.after !== null) query = query.where("follow.seq", ">", page.after);
  const rows = await query.orderBy("follow.seq").limit(rowsToFetch(page)).offset(rowsToSkip(page)).execute();
  const views = rows.map(({ stoppedAt, dueAt, ...row }) => ({
    ...row,
    asOf: row.state === "followed" ? checkpoint : stoppedAt,
    until: row.state === "quarantined" ? dueAt : null,
  }));
  return pageOf(views, total, page, (row) => row.seq);
}

/** What is stored of a wallet's tokens in a foreign contract. */
interface StoredContents {
  /** The block as of which they are complete; null when they were never read completely. */
  asOf: number | null;
  /** Whether they were or will be read from the chain. */
  planned: boolean;
}

export async function storedContents(db: Db, contract: string, owner: string): Promise<StoredContents> {
  const row = await db
    .selectFrom("contract_reads as read")
    .innerJoin("foreign_contracts as contract", "contract.address", "read.contract")
    .select(["read.complete_to", "read.due_at", "read.search", "contract.as_of", "contract.state"])
    .where("read.contract", "=", contract)
    .where("read.owner", "=", owner)
    .executeTakeFirst();
  const planned = row !== undefined && row.search !== 0;
  if (row?.complete_to == null) return { asOf: null, planned };
  if (row.due_at !== null) return { asOf: row.complete_to, planned };
  return { asOf: row.state === "followed" ? await checkpointOf(db) : row.as_of, planned };
}
