import type { RequestStatus, RequestType } from "../../domain/request.ts";
import type { Db, Trx } from "./engine.ts";

/** The total that each listing shows, by the key of its counter. */
export const counterKeys = {
  /** Accepted requests of all apps that are not final. */
  backlog: () => "backlog",
  wallets: (app: string) => `wallets:${app}`,
  collections: (app: string) => `collections:${app}`,
  requests: (app: string, status: RequestStatus, type: RequestType) => `requests:${app}:${status}:${type}`,
  deliveries: (app: string) => `deliveries:${app}`,
  /** Events ever, test events aside: the position of the last one in the feed. */
  events: (app: string) => `events:${app}`,
  holdings: (owner: string) => `holdings:${owner}`,
  holdingsOfContract: (owner: string, contract: string) => `holdings:${owner}:${contract}`,
  nfts: (contract: string) => `nfts:${contract}`,
  owners: (contract: string, tokenId: string) => `owners:${contract}:${tokenId}`,
  walletHistory: (wallet: string) => `history:${wallet}`,
  tokenHistory: (contract: string, tokenId: string) => `history:${contract}:${tokenId}`,
} as const;

export async function addToCounter(trx: Trx, key: string, delta: number): Promise<void> {
  if (delta === 0) return;
  await trx
    .insertInto("counters")
    .values({ key, value: delta })
    .onConflict((conflict) => conflict.column("key").doUpdateSet((eb) => ({ value: eb("counters.value", "+", delta) })))
    .execute();
}

/** @returns the counter after adding one. Other transactions that count it wait until this one is over. */
export async function countUp(trx: Trx, key: string): Promise<number> {
  const { value } = await trx
    .insertInto("counters")
    .values({ key, value: 1 })
    .onConflict((conflict) => conflict.column("key").doUpdateSet((eb) => ({ value: eb("counters.value", "+", 1) })))
    .returning("value")
    .executeTakeFirstOrThrow();
  return value;
}

export async function readCounter(db: Db, key: string): Promise<number> {
  const row = await db.selectFrom("counters").select("value").where("key", "=", key).executeTakeFirst();
  return row?.value ?? 0;
}

/** Collects changes of listing totals, so that a hundred mints of one collection touch its counter once. */
export class CounterDeltas {
  readonly #deltas = new Map<string, number>();

  add(key: string, delta: number): void {
    this.#deltas.set(key, (this.#deltas.get(key) ?? 0) + delta);
  }

  /** In the order of the keys, so that two writers never wait for each other in a circle. */
  async flush(trx: Trx): Promise<void> {
    for (const key of [...this.#deltas.keys()].sort()) {
      await addToCounter(trx, key, this.#deltas.get(key) ?? 0);
    }
    this.#deltas.clear();
  }
}
