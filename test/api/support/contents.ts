import { counterKeys } from "../../../api/store/db/counters.ts";
import type { Database } from "../../../api/store/db/database.ts";

/** What the chain has brought about, without row numbers and times, and without totals of nothing. */
export async function contents(database: Database) {
  const { read } = database;
  return {
    nfts: await read
      .selectFrom("nfts")
      .select(["contract", "token_id", "request_id", "supply", "reserved", "token_uri", "metadata", "minted_block"])
      .orderBy("contract")
      .orderBy("token_id")
      .execute(),
    holdings: await read
      .selectFrom("holdings")
      .select(["contract", "token_id", "owner", "quantity", "reserved"])
      .orderBy("contract")
      .orderBy("token_id")
      .orderBy("owner")
      .execute(),
    transfers: await read
      .selectFrom("transfers")
      .select(["id", "contract", "token_id", "type", "quantity"])
      .orderBy("id")
      .execute(),
    history: await read.selectFrom("wallet_history").selectAll().orderBy("transfer_id").orderBy("wallet").execute(),
    collections: await read
      .selectFrom("collections")
      .select(["address", "minted", "copies", "reserved", "owner", "max_supply", "base_uri", "service_may_mint"])
      .select(["metadata_frozen", "royalty_frozen", "listed"])
      .orderBy("address")
      .execute(),
    counters: [...(await totals(database))].filter(([, value]) => value !== 0).sort(),
    checkpoint: (await read.selectFrom("meta").selectAll().where("key", "=", "checkpoint").execute())[0]?.value,
  };
}

/** The value of each counter: the sum of its parts. */
async function totals({ read }: Database): Promise<Map<string, number>> {
  const sums = new Map<string, number>();
  for (const { key, value } of await read.selectFrom("counters").select(["key", "value"]).execute())
    sums.set(key, (sums.get(key) ?? 0) + value);
  return sums;
}

/** Totals that are not what a count of the rows gives: none, ever. */
export async function countedTotals(database: Database): Promise<string[]> {
  const { read } = database;
  const counted = new Map<string, number>();
  const add = (key: string) => counted.set(key, (counted.get(key) ?? 0) + 1);
  for (const row of await read.selectFrom("holdings").selectAll().execute()) {
    add(counterKeys.holdings(row.owner));
    add(counterKeys.holdingsOfContract(row.owner, row.contract));
    add(counterKeys.owners(row.contract, row.token_id));
  }
  for (const row of await read.selectFrom("nfts").selectAll().execute()) {
    if (row.minted_block !== null && row.supply !== "0") add(counterKeys.nfts(row.contract));
  }
  for (const row of await read.selectFrom("transfers").selectAll().execute())
    add(counterKeys.tokenHistory(row.contract, row.token_id));
  for (const row of await read.selectFrom("wallet_history").selectAll().execute())
    add(counterKeys.walletHistory(row.wallet));
  for (const row of await read.selectFrom("requests").selectAll().execute())
    add(counterKeys.requests(row.app_id, row.status, row.type));
  for (const row of await read.selectFrom("deliveries").selectAll().execute()) add(counterKeys.deliveries(row.app_id));
  const stored = await totals(database);
  const kept = new Set(["holdings", "owners", "nfts", "history", "requests", "deliveries"]);
  const wrong = [...stored]
    .filter(([key]) => kept.has(key.split(":")[0] ?? ""))
    .filter(([key, value]) => value !== (counted.get(key) ?? 0))
    .map(([key, value]) => `${key}: ${value.toString()}, counted ${(counted.get(key) ?? 0).toString()}`);
  const missing = [...counted.keys()].filter((key) => !stored.has(key));
  return [...wrong, ...missing.map((key) => `${key}: missing`)];
}
