import { endedWrongly } from "./calls.ts";
import type { Accepted } from "./load.ts";
import type { Records } from "../scene/records.ts";
import type { RoundResult } from "./check.ts";

interface RequestState {
  id: string;
  status: string;
  error_code: string | null;
}

/** Rows that must not exist once every request is final. Each query counts them. */
const LEFTOVERS = {
  "holdings are still reserved": "select count(*) n from holdings where reserved <> '0'",
  "ERC1155 ids are still reserved": "select count(*) n from nfts where reserved <> '0' or minted_block is null",
  "supply caps are still reserved": "select count(*) n from collections where reserved <> 0",
  "requests are still claimed, ready or without an outcome":
    "select count(*) n from requests where ready_at is not null or lane is not null or outcome is not null",
  "requests are still in the backlog":
    "select coalesce(sum(abs(total)), 0) n from (select sum(value) total from counters where key = 'backlog' or key like 'backlog:%' or key like 'media:%' group by key) as totals",
  "stored bytes of the app are not those of its requests":
    "select abs((select coalesce(sum(value), 0) from counters where key like 'stored-bytes:%') - (select coalesce(sum(stored_bytes), 0) from requests where status <> 'failed')) n",
  "wallets are counted wrongly":
    "select abs((select coalesce(sum(value), 0) from counters where key like 'wallets:%') - (select count(*) from wallets)) n",
  "media jobs are left": "select (select count(*) from media_jobs) + (select count(*) from media_results) n",
  "batches are still open": "select count(*) n from batches where status = 'open'",
};

/** Requests in one query. */
const SLICE = 500;

/** Counts how the accepted requests ended, and adds those that ended as they must not. */
export async function countOutcomes(records: Records, accepted: Accepted[], result: RoundResult): Promise<void> {
  const rows = await byIds<RequestState>(records, accepted, "select id, status, error_code from requests where id in");
  const found = new Map(rows.map((row) => [row.id, row]));
  for (const { id, kind } of accepted) {
    const row = found.get(id);
    if (row === undefined) {
      result.lost++;
      continue;
    }
    if (row.status === "completed") result.completed++;
    else if (row.status === "failed") result.failed++;
    if (endedWrongly(kind, row.status, row.error_code))
      result.other.push(`request ${id} (${kind}) is ${row.status}, error code ${String(row.error_code)}`);
  }
}

/** Nothing is reserved, claimed or queued once every request is final. */
export async function findLeftovers(records: Records, result: RoundResult): Promise<void> {
  const image = records.field("metadata", "image");
  const receiver = records.field("command", "to");
  const queries = {
    ...LEFTOVERS,
    "tokens still name an image that was to be copied": `select count(*) n from nfts where ${image} like 'data:%'`,
    // The load creates users only by mints.
    "wallets of users were created without a request": `select count(*) n from wallets where user_identifier is not null and address not in (select ${receiver} from requests where ${receiver} is not null)`,
  };
  for (const [what, query] of Object.entries(queries)) {
    const { n: left } = await records.one<{ n: number }>(query);
    if (left > 0) result.other.push(`${left.toString()} ${what}`);
  }
}

/** Every accepted request has exactly one final event. */
export async function countFinalEvents(records: Records, accepted: Accepted[], result: RoundResult): Promise<void> {
  const events = await byIds<{ request_id: string }>(
    records,
    accepted,
    "select request_id from events where type in ('completed', 'error') and request_id in",
  );
  const counts = new Map<string, number>();
  for (const { request_id: id } of events) counts.set(id, (counts.get(id) ?? 0) + 1);
  for (const { id } of accepted) {
    const count = counts.get(id) ?? 0;
    if (count > 1) result.duplicated++;
    if (count === 0) result.lost++;
  }
}

/** What the service says of a completed request. */
export interface Completed {
  id: string;
  type: string;
  nft_collection: string;
  nft_token_id: string | null;
  transaction_hash: string;
  block_number: number;
}

export function completedOf(records: Records, accepted: Accepted[]): Promise<Completed[]> {
  return byIds(
    records,
    accepted,
    "select id, type, nft_collection, nft_token_id, transaction_hash, block_number from requests where status = 'completed' and id in",
  );
}

/** @param query ends before the list of ids. */
async function byIds<T extends object>(records: Records, accepted: Accepted[], query: string): Promise<T[]> {
  const found: T[] = [];
  for (let start = 0; start < accepted.length; start += SLICE) {
    const ids = accepted.slice(start, start + SLICE).map(({ id }) => id);
    found.push(...(await records.all<T>(`${query} (${ids.map(() => "?").join(", ")})`, ...ids)));
  }
  return found;
}
