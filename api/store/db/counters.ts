import type { RequestStatus, RequestType } from "../../domain/request.ts";
import { type RawBuilder, sql } from "kysely";

import { compiledSetQuery } from "./compiled-query.ts";
import { type Db, engineOf, rowSet, type Trx } from "./sql.ts";

/*
 * A counter is the sum of its parts (column `slot`). Each connection adds to a part of its own, so that writers do not wait for each other
 * on PostgreSQL. SQLite has one writer, and one part.
 */

/** Parts of a counter on PostgreSQL. More connections than this share parts. */
const PARTS = 32;

/** The part of a sequence: see `advanceSequences`. */
const ONLY_PART = 0;

/** What is summed for each app and day. A fee has two parts, gwei and wei below one gwei, so that 64 bits hold each sum. */
export const USAGE_FIGURES = [
  "accepted",
  "completed",
  "failed",
  "gas",
  "fee_gwei",
  "fee_rest",
  "media_bytes",
  "wallets",
] as const;
export type UsageFigure = (typeof USAGE_FIGURES)[number];

/** Keys of the counters, one for each total that a listing shows. */
export const counterKeys = {
  /** Requests of all apps that are not final, without those that wait for content. */
  backlog: () => "backlog",
  backlogOfApp: (app: string) => `backlog:${app}`,
  /** The part of the backlog whose transaction was sent. */
  processing: () => "processing",
  /** Requests of all apps that wait for content. */
  media: () => "media",
  /** Requests of an app that wait for content: its media jobs. */
  mediaBacklog: (app: string) => `media:${app}`,
  /** Bytes of the files that an app has copied, each file once: the sizes in `app_media`. */
  mediaBytes: (app: string) => `media-bytes:${app}`,
  /** Bytes of metadata and unlockable content of an app's requests that did not fail: `requests.stored_bytes`. */
  storedBytes: (app: string) => `stored-bytes:${app}`,
  wallets: (app: string) => `wallets:${app}`,
  collections: (app: string) => `collections:${app}`,
  /** Contracts that the app follows. */
  contracts: (app: string) => `contracts:${app}`,
  requests: (app: string, status: RequestStatus, type: RequestType) => `requests:${app}:${status}:${type}`,
  deliveries: (webhook: string) => `deliveries:${webhook}`,
  /** A sequence, not a total: the position of the newest event in the feed. */
  events: (app: string) => `events:${app}`,
  holdings: (owner: string) => `holdings:${owner}`,
  holdingsOfContract: (owner: string, contract: string) => `holdings:${owner}:${contract}`,
  nfts: (contract: string) => `nfts:${contract}`,
  owners: (contract: string, tokenId: string) => `owners:${contract}:${tokenId}`,
  walletHistory: (wallet: string) => `history:${wallet}`,
  /** What an app used on a day (days since 1970, UTC). A sum over time: it cannot be counted again from other rows. */
  usage: (app: string, day: number, figure: UsageFigure | "minted") => `usage:${app}:${day.toString()}:${figure}`,
  /**
   * What became final in a bucket of ten minutes (`api/domain/series.ts`), over all apps. Also a sum over time. The number of the
   * bucket has leading zeros, so that keys are in the order of time.
   */
  series: (bucket: number, figure: string) => `series:${bucket.toString().padStart(9, "0")}:${figure}`,
  tokenHistory: (contract: string, tokenId: string) => `history:${contract}:${tokenId}`,
} as const;

export async function addToCounter(trx: Trx, key: string, delta: number): Promise<void> {
  await addToCounters(trx, new Map([[key, delta]]));
}

/** Adds to many counters in one statement, in the order of their keys, so that two writers cannot deadlock. */
export async function addToCounters(trx: Trx, deltas: ReadonlyMap<string, number>): Promise<void> {
  await addToPart(trx, deltas, ownPart(trx));
}

/**
 * Advances sequences: counters that give out each number once, such as positions in a feed. A sequence has one part, which stays
 * locked until the commit, so numbers are given in commit order.
 * @returns the last number of each, after the change.
 */
export async function advanceSequences(trx: Trx, counts: ReadonlyMap<string, number>): Promise<Map<string, number>> {
  return addToPart(trx, counts, sql.lit(ONLY_PART));
}

async function addToPart(
  trx: Trx,
  deltas: ReadonlyMap<string, number>,
  part: RawBuilder<unknown>,
): Promise<Map<string, number>> {
  const rows = [...deltas].filter(([, delta]) => delta !== 0).map(([key, delta]) => ({ key, delta }));
  if (rows.length === 0) return new Map();
  const input = rowSet(trx, { key: "text", delta: "integer" }, rows);
  const { rows: changed } = await sql<{ key: string; value: number }>`
    insert into counters (key, slot, value) select key, ${part}, delta from ${input} as input where true order by key
    on conflict (key, slot) do update set value = counters.value + excluded.value
    returning key, value`.execute(trx);
  return new Map(changed.map(({ key, value }) => [key, value]));
}

/** The part that this connection writes. */
function ownPart(trx: Trx): RawBuilder<unknown> {
  return engineOf(trx) === "postgres" ? sql`pg_backend_pid() % ${sql.lit(PARTS)}` : sql.lit(ONLY_PART);
}

const valuesOf = compiledSetQuery(
  { key: "text" },
  (input) => sql<{ key: string; value: number }>`
    select key, cast(sum(value) as bigint) as value from counters
     where key in (select key from ${input} as input) group by key`,
);

export async function readCounter(db: Db, key: string): Promise<number> {
  return (await readCounters(db, [key])).get(key) ?? 0;
}

/** Reads counters in one statement. Those that were never written are left out. */
export async function readCounters(db: Db, keys: readonly string[]): Promise<Map<string, number>> {
  const rows = await valuesOf(
    db,
    keys.map((key) => ({ key })),
  );
  return new Map(rows.map(({ key, value }) => [key, value]));
}

/** Adds to the requests that wait for content, and to those of one app. */
export function addToMediaBacklog(counters: CounterDeltas, appId: string, delta: number): void {
  counters.add(counterKeys.media(), delta);
  counters.add(counterKeys.mediaBacklog(appId), delta);
}

/** Adds to the backlog and to the part of it that belongs to one app. */
export function addToBacklog(counters: CounterDeltas, appId: string, delta: number): void {
  counters.add(counterKeys.backlog(), delta);
  counters.add(counterKeys.backlogOfApp(appId), delta);
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
