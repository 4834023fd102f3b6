import { type RawBuilder, sql } from "kysely";

import { addToCounters } from "../db/counters.ts";
import type { Trx } from "../db/sql.ts";
import type { Difference } from "./difference.ts";

/** The totals of all listings, counted from their rows. The keys are those of `counterKeys`. */
function counted(): RawBuilder<unknown> {
  return sql`
    select 'wallets:' || app_id as key, count(*) as value from wallets group by app_id
    union all select 'collections:' || app_id, count(*) from collections where listed = 1 group by app_id
    union all select 'contracts:' || app_id, count(*) from contract_follows where ended_at is null group by app_id
    union all select 'requests:' || app_id || ':' || status || ':' || type, count(*) from requests group by app_id, status, type
    union all select 'backlog', count(*) from (${backlog()}) as backlog
    union all select 'backlog:' || app_id, count(*) from (${backlog()}) as backlog group by app_id
    union all select 'processing', count(*) from requests where status = 'processing'
    union all select 'media', count(*) from media_jobs
    union all select 'media:' || app_id, count(*) from media_jobs group by app_id
    union all select 'media-bytes:' || app_id, cast(sum(size) as bigint) from app_media group by app_id
    union all select 'stored-bytes:' || app_id, cast(sum(stored_bytes) as bigint) from requests where status <> 'failed' group by app_id
    union all select 'deliveries:' || app_id, count(*) from deliveries group by app_id
    union all select 'holdings:' || owner, count(*) from holdings group by owner
    union all select 'holdings:' || owner || ':' || contract, count(*) from holdings group by owner, contract
    union all select 'owners:' || contract || ':' || token_id, count(*) from holdings group by contract, token_id
    union all select 'nfts:' || contract, count(*) from nfts where minted_block is not null and supply <> '0' group by contract
    union all select 'history:' || wallet, count(*) from wallet_history group by wallet
    union all select 'history:' || contract || ':' || token_id, count(*) from transfers group by contract, token_id`;
}

/** Requests that are not final and do not wait for content. */
function backlog(): RawBuilder<unknown> {
  return sql`
    select app_id from requests where status in ('pending', 'processing')
       and not exists (select 1 from media_jobs where media_jobs.request_id = requests.id)`;
}

/** Counters that are not a number of rows: a position in a feed is never used twice, the others are sums over time. */
const [FEEDS, USAGE, SERIES] = ["events:%", "usage:%", "series:%"];

/** Compares the totals of all listings with their rows, and repairs them. */
export async function compareCounters(trx: Trx, repair: boolean): Promise<Difference[]> {
  const { rows } = await sql<{ key: string; stored: number | null; counted: number | string }>`
    with real as (${counted()}),
         counter as (select key, cast(sum(value) as bigint) as value from counters group by key)
    select real.key as key, counter.value as stored, real.value as counted
      from real left join counter on counter.key = real.key
      where real.value <> coalesce(counter.value, 0)
    union all
    select counter.key, counter.value, 0 from counter
      where counter.value <> 0 and counter.key not like ${FEEDS} and counter.key not like ${USAGE}
        and counter.key not like ${SERIES}
        and counter.key not in (select key from real)
  `.execute(trx);
  if (repair) {
    await addToCounters(
      trx,
      new Map(rows.map(({ key, stored, counted: value }) => [key, Number(value) - (stored ?? 0)])),
    );
  }
  return rows.map(({ key, stored, counted: value }) => ({
    what: `the total ${key}`,
    stored: String(stored ?? "none"),
    chain: String(value),
  }));
}
