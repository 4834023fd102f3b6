import { type RawBuilder, sql } from "kysely";

import type { Trx } from "../db/engine.ts";
import type { Difference } from "./difference.ts";

/** The totals of all listings, counted from their rows. The keys are those of `counterKeys`. */
function counted(): RawBuilder<unknown> {
  return sql`
    select 'wallets:' || app_id as key, count(*) as value from wallets group by app_id
    union all select 'collections:' || app_id, count(*) from collections where listed = 1 group by app_id
    union all select 'requests:' || app_id || ':' || status || ':' || type, count(*) from requests group by app_id, status, type
    union all select 'backlog', count(*) from requests where status in ('pending', 'processing')
    union all select 'deliveries:' || app_id, count(*) from deliveries group by app_id
    union all select 'holdings:' || owner, count(*) from holdings group by owner
    union all select 'holdings:' || owner || ':' || contract, count(*) from holdings group by owner, contract
    union all select 'owners:' || contract || ':' || token_id, count(*) from holdings group by contract, token_id
    union all select 'nfts:' || contract, count(*) from nfts where minted_block is not null and supply <> '0' group by contract
    union all select 'history:' || wallet, count(*) from wallet_history group by wallet
    union all select 'history:' || contract || ':' || token_id, count(*) from transfers group by contract, token_id`;
}

/** Counters that are not a number of rows: a position in a feed is never used twice. */
const NOT_COUNTED = "events:%";

/** Compares the totals of all listings with their rows, and repairs them. */
export async function compareCounters(trx: Trx, repair: boolean): Promise<Difference[]> {
  const { rows } = await sql<{ key: string; stored: number | null; counted: number | string }>`
    with real as (${counted()})
    select real.key as key, counters.value as stored, real.value as counted
      from real left join counters on counters.key = real.key
      where real.value <> coalesce(counters.value, 0)
    union all
    select counters.key, counters.value, 0 from counters
      where counters.value <> 0 and counters.key not like ${NOT_COUNTED} and counters.key not in (select key from real)
  `.execute(trx);
  if (repair) {
    for (const { key, counted: value } of rows) {
      await trx
        .insertInto("counters")
        .values({ key, value: Number(value) })
        .onConflict((conflict) => conflict.column("key").doUpdateSet({ value: Number(value) }))
        .execute();
    }
  }
  return rows.map(({ key, stored, counted: value }) => ({
    what: `the total ${key}`,
    stored: String(stored ?? "none"),
    chain: String(value),
  }));
}
