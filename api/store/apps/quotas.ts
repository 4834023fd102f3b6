import { sql } from "kysely";

import { QUOTA_NAMES, type QuotaName, type Quotas, type QuotaUse } from "../../domain/quota.ts";
import type { RequestType } from "../../domain/request.ts";
import { counterKeys, readCounters } from "../db/counters.ts";
import type { AppRow } from "../db/schema.ts";
import { type Db, forNoKeyUpdate, textSet, type Trx } from "../db/sql.ts";
import { countLiveTokens } from "./api-tokens.ts";

/** Calls of one token or address, in a window that ends at a time. */
interface RateCount {
  key: string;
  used: number;
  /** Milliseconds since 1970. */
  endsAt: number;
}

/**
 * Adds calls of one key that a process has counted to the total of all processes. A window that is over begins again.
 * @param window its length in milliseconds. A window that ends much later is from before a clock was set back.
 * @returns the total, with the end of its window.
 */
export async function addCalls(
  trx: Trx,
  { key, used, endsAt }: RateCount,
  { now, window }: { now: number; window: number },
): Promise<RateCount> {
  await trx
    .deleteFrom("rate_counts")
    .where("ends_at", "<", now - window)
    .execute();
  const isOver = sql`(rate_counts.ends_at <= ${now} or rate_counts.ends_at > ${now + 2 * window})`;
  const { rows } = await sql<RateCount>`
    insert into rate_counts (key, used, ends_at) values (${key}, ${used}, ${endsAt})
    on conflict (key) do update set
      used = case when ${isOver} then excluded.used else rate_counts.used + excluded.used end,
      ends_at = case when ${isOver} then excluded.ends_at else rate_counts.ends_at end
    returning key as "key", used as "used", ends_at as "endsAt"`.execute(trx);
  const [total] = rows;
  if (total === undefined) throw new Error("the count of a key was not stored");
  return total;
}

type QuotaColumn = `quota_${QuotaName}`;
type QuotaColumns = Pick<AppRow, QuotaColumn>;

const COLUMNS = QUOTA_NAMES.map(columnOf);

function columnOf(name: QuotaName): QuotaColumn {
  return `quota_${name}`;
}

export function quotasOf(app: QuotaColumns): Quotas {
  return ofEach((name) => app[columnOf(name)]);
}

function ofEach<T>(value: (name: QuotaName) => T): Record<QuotaName, T> {
  return Object.fromEntries(QUOTA_NAMES.map((name) => [name, value(name)])) as Record<QuotaName, T>;
}

/**
 * Locks the apps until the end of the transaction, so that one call at a time is compared with a quota. Read what is compared
 * after this. Call it only for apps that have a quota: the calls of other apps need not wait for each other.
 * @returns the quotas as they are now.
 */
export async function lockQuotas(trx: Trx, appIds: Iterable<string>): Promise<Map<string, Quotas>> {
  const wanted = new Set(appIds);
  if (wanted.size === 0) return new Map();
  const { rows } = await sql<QuotaColumns & { id: string }>`
    select id, ${sql.join(COLUMNS.map((column) => sql.ref(column)))} from apps
     where id in ${textSet(trx, wanted)}
     order by id ${forNoKeyUpdate(trx)}`.execute(trx);
  return new Map(rows.map((row) => [row.id, quotasOf(row)]));
}

/** The columns of quotas, for a new app or a change. */
export function quotaColumns(quotas: Partial<Quotas>): Partial<QuotaColumns> {
  const given = QUOTA_NAMES.flatMap((name) => (quotas[name] === undefined ? [] : [[columnOf(name), quotas[name]]]));
  return Object.fromEntries(given) as Partial<QuotaColumns>;
}

/** @param quotas those to change. Lock the app before (`lockApp`): calls that were decided without a quota are stored then. */
export async function setQuotas(trx: Trx, appId: string, quotas: Partial<Quotas>): Promise<void> {
  const columns = quotaColumns(quotas);
  if (Object.keys(columns).length === 0) return;
  await trx.updateTable("apps").set(columns).where("id", "=", appId).execute();
}

/** The quotas whose use is kept in counters. Tokens end by the clock, so they are counted when they are asked for. */
export type CountedQuota = Exclude<QuotaName, "api_tokens">;

/** The counters whose sum a quota limits. */
const COUNTERS: Record<CountedQuota, (app: string) => string[]> = {
  media_bytes: (app) => [counterKeys.mediaBytes(app)],
  media_requests: (app) => [counterKeys.mediaBacklog(app)],
  wallets: (app) => [counterKeys.wallets(app)],
  stored_bytes: (app) => [counterKeys.storedBytes(app)],
  collections: (app) => notFailed(app, "collection"),
  mints: (app) => notFailed(app, "mint"),
};
const COUNTED = Object.keys(COUNTERS) as CountedQuota[];

function notFailed(app: string, type: RequestType): string[] {
  return (["pending", "processing", "completed"] as const).map((status) => counterKeys.requests(app, status, type));
}

/** How much of the counted quotas each app has used. One statement. */
export async function readCounted(
  db: Db,
  appIds: Iterable<string>,
): Promise<Map<string, Record<CountedQuota, number>>> {
  const ids = [...appIds];
  const counters = await readCounters(
    db,
    ids.flatMap((id) => COUNTED.flatMap((name) => COUNTERS[name](id))),
  );
  const usedOf = (id: string) =>
    COUNTED.map((name) => [name, COUNTERS[name](id).reduce((sum, key) => sum + (counters.get(key) ?? 0), 0)]);
  return new Map(ids.map((id) => [id, Object.fromEntries(usedOf(id)) as Record<CountedQuota, number>]));
}

/** The app's quotas, and how much of them is used. */
export async function readQuotaUse(db: Db, appId: string): Promise<QuotaUse> {
  const app = await db
    .selectFrom("apps")
    .select(["id", ...COLUMNS])
    .where("id", "=", appId)
    .executeTakeFirst();
  const none = ofEach(() => null);
  const columns = Object.fromEntries(QUOTA_NAMES.map((name) => [columnOf(name), none[name]])) as QuotaColumns;
  const [read] = await readQuotaUses(db, [app ?? { id: appId, ...columns }]);
  if (read === undefined) throw new Error("the quotas of an app are missing");
  return read.use;
}

/** The same for apps that are read already, in their order. The number of statements does not grow with theirs. */
export async function readQuotaUses<A extends QuotaColumns & { id: string }>(
  db: Db,
  apps: readonly A[],
): Promise<{ app: A; use: QuotaUse }[]> {
  const ids = apps.map(({ id }) => id);
  const [counted, tokens] = [await readCounted(db, ids), await countLiveTokens(db, ids, Date.now())];
  return apps.map((app) => {
    const used = { ...counted.get(app.id), api_tokens: tokens.get(app.id) };
    const limits = quotasOf(app);
    return { app, use: ofEach((name) => ({ used: used[name] ?? 0, limit: limits[name] })) };
  });
}
