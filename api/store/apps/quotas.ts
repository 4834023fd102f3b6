import { sql } from "kysely";

import type { QuotaName, Quotas, QuotaUse } from "../../domain/quota.ts";
import { counterKeys, readCounters } from "../db/counters.ts";
import type { Db, Trx } from "../db/engine.ts";
import { forNoKeyUpdate } from "../db/row-locks.ts";
import { rowSet } from "../db/row-set.ts";
import type { AppRow } from "../db/schema.ts";

type QuotaColumns = Pick<AppRow, "quota_media_bytes" | "quota_media_requests" | "quota_wallets">;

export function quotasOf(app: QuotaColumns): Quotas {
  return {
    media_bytes: app.quota_media_bytes,
    media_requests: app.quota_media_requests,
    wallets: app.quota_wallets,
  };
}

/**
 * Locks the apps until the end of the transaction, so that one call at a time is compared with a quota. Read the counters
 * that are compared after this. Call it only for apps that have a quota: the calls of other apps need not wait for each other.
 * @returns the quotas as they are now.
 */
export async function lockQuotas(trx: Trx, appIds: Iterable<string>): Promise<Map<string, Quotas>> {
  const wanted = [...new Set(appIds)].map((id) => ({ id }));
  if (wanted.length === 0) return new Map();
  const { rows } = await sql<QuotaColumns & { id: string }>`
    select id, quota_media_bytes, quota_media_requests, quota_wallets from apps
     where id in (select id from ${rowSet(trx, { id: "text" }, wanted)} as input)
     order by id ${forNoKeyUpdate(trx)}`.execute(trx);
  return new Map(rows.map((row) => [row.id, quotasOf(row)]));
}

/** @param quotas those to change. Lock the app before (`lockApp`): calls that were decided without a quota are stored then. */
export async function setQuotas(trx: Trx, appId: string, quotas: Partial<Quotas>): Promise<void> {
  const { media_bytes: bytes, media_requests: requests, wallets } = quotas;
  const columns: Partial<QuotaColumns> = {
    ...(bytes === undefined ? {} : { quota_media_bytes: bytes }),
    ...(requests === undefined ? {} : { quota_media_requests: requests }),
    ...(wallets === undefined ? {} : { quota_wallets: wallets }),
  };
  if (Object.keys(columns).length === 0) return;
  await trx.updateTable("apps").set(columns).where("id", "=", appId).execute();
}

/** The app's quotas, and how much of them is used. */
export async function readQuotaUse(db: Db, appId: string): Promise<QuotaUse> {
  const app = await db
    .selectFrom("apps")
    .select(["id", "quota_media_bytes", "quota_media_requests", "quota_wallets"])
    .where("id", "=", appId)
    .executeTakeFirst();
  const none = { id: appId, quota_media_bytes: null, quota_media_requests: null, quota_wallets: null };
  const [read] = await readQuotaUses(db, [app ?? none]);
  if (read === undefined) throw new Error("the quotas of an app are missing");
  return read.use;
}

/** The same for apps that are read already, in their order and in one statement. */
export async function readQuotaUses<A extends QuotaColumns & { id: string }>(
  db: Db,
  apps: readonly A[],
): Promise<{ app: A; use: QuotaUse }[]> {
  const keysOf = (id: string) => ({
    media_bytes: counterKeys.mediaBytes(id),
    media_requests: counterKeys.mediaBacklog(id),
    wallets: counterKeys.wallets(id),
  });
  const counters = await readCounters(
    db,
    apps.flatMap(({ id }) => Object.values(keysOf(id))),
  );
  return apps.map((app) => {
    const [keys, limits] = [keysOf(app.id), quotasOf(app)];
    const use = (name: QuotaName) => ({ used: counters.get(keys[name]) ?? 0, limit: limits[name] });
    return {
      app,
      use: { media_bytes: use("media_bytes"), media_requests: use("media_requests"), wallets: use("wallets") },
    };
  });
}
