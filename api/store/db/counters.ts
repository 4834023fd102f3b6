import type { RequestStatus, RequestType } from "../../domain/request.ts";
import { sql } from "kysely";

import type { Db, Trx } from "./engine.ts";
import { rowSet } from "./row-set.ts";

/** Keys of the counters, one for each total that a listing shows. */
export const counterKeys = {
  /** Requests of all apps that are not final. */
  backlog: () => "backlog",
  wallets: (app: string) => `wallets:${app}`,
  collections: (app: string) => `collections:${app}`,
  requests: (app: string, status: RequestStatus, type: RequestType) => `requests:${app}:${status}:${type}`,
  deliveries: (app: string) => `deliveries:${app}`,
  /** All events ever, without test events: the position of the newest one in the feed. */
  events: (app: string) => `events:${app}`,
  holdings: (owner: string) => `holdings:${owner}`,
  holdingsOfContract: (owner: string, contract: string) => `holdings:${owner}:${contract}`,
  nfts: (contract: string) => `nfts:${contract}`,
  owners: (contract: string, tokenId: string) => `owners:${contract}:${tokenId}`,
  walletHistory: (wallet: string) => `history:${wallet}`,
  tokenHistory: (contract: string, tokenId: string) => `history:${contract}:${tokenId}`,
} as const;

export async function addToCounter(trx: Trx, key: string, delta: number): Promise<void> {
  await addToCounters(trx, new Map([[key, delta]]));
}

/**
 * Adds to many counters in one statement, in the order of their keys, so that two writers cannot deadlock.
 * @returns the counters after the change.
 */
export async function addToCounters(trx: Trx, deltas: ReadonlyMap<string, number>): Promise<Map<string, number>> {
  const rows = [...deltas].filter(([, delta]) => delta !== 0).map(([key, delta]) => ({ key, delta }));
  if (rows.length === 0) return new Map();
  const input = rowSet(trx, { key: "text", delta: "integer" }, rows);
  const { rows: changed } = await sql<{ key: string; value: number }>`
    insert into counters (key, value) select key, delta from ${input} as input where true order by key
    on conflict (key) do update set value = counters.value + excluded.value
    returning key, value`.execute(trx);
  return new Map(changed.map(({ key, value }) => [key, value]));
}

export async function readCounter(db: Db, key: string): Promise<number> {
  const row = await db.selectFrom("counters").select("value").where("key", "=", key).executeTakeFirst();
  return row?.value ?? 0;
}

/** Collects changes of totals, so that a hundred mints of one collection update its counter once. */
export class CounterDeltas {
  readonly #deltas = new Map<string, number>();

  add(key: string, delta: number): void {
    this.#deltas.set(key, (this.#deltas.get(key) ?? 0) + delta);
  }

  async flush(trx: Trx): Promise<void> {
    await addToCounters(trx, this.#deltas);
    this.#deltas.clear();
  }
}
