import type { Database } from "better-sqlite3";

import { endedWrongly } from "./calls.ts";
import type { Accepted } from "./load.ts";
import type { RoundResult } from "./result.ts";

interface RequestState {
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
    "select coalesce(sum(abs(total)), 0) n from (select sum(value) total from counters where key = 'backlog' or key like 'backlog:%' or key like 'media:%' group by key)",
  "media jobs are left": "select count(*) n from media_jobs",
  "batches are still open": "select count(*) n from batches where status = 'open'",
  "tokens still name an image that was to be copied":
    "select count(*) n from nfts where json_extract(metadata, '$.image') like 'data:%'",
};

/** Counts how the accepted requests ended, and adds those that ended as they must not. */
export function countOutcomes(database: Database, accepted: Accepted[], result: RoundResult): void {
  const find = database.prepare<[string], RequestState>("select status, error_code from requests where id = ?");
  for (const { id, kind } of accepted) {
    const row = find.get(id);
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
export function findLeftovers(database: Database, result: RoundResult): void {
  for (const [what, query] of Object.entries(LEFTOVERS)) {
    const left = database.prepare<[], { n: number }>(query).get()?.n ?? 0;
    if (left > 0) result.other.push(`${left.toString()} ${what}`);
  }
}

/** Every accepted request has exactly one final event. */
export function countFinalEvents(database: Database, accepted: Accepted[], result: RoundResult): void {
  const count = database.prepare<[string], { n: number }>(
    "select count(*) n from events where request_id = ? and type in ('completed', 'error')",
  );
  for (const { id } of accepted) {
    const events = count.get(id)?.n ?? 0;
    if (events > 1) result.duplicated++;
    if (events === 0) result.lost++;
  }
}
