import { ApiError } from "../domain/error-codes.ts";
import { quotaMessage, type QuotaName, type UsedQuota } from "../domain/quota.ts";
import { holdApps } from "../store/apps/apps.ts";
import { lockQuotas } from "../store/apps/quotas.ts";
import type { Trx } from "../store/db/sql.ts";

/** `Retry-After` in seconds. Media are copied all the time; the other quotas wait for somebody. */
const RETRY_AFTER: Partial<Record<QuotaName, number>> = { media_requests: 30 };

const RETRY_AFTER_HELP = 3_600;

/** The error of a call that a quota of its app refuses. */
export function overQuota(quota: UsedQuota): ApiError {
  const retryAfter = RETRY_AFTER[quota.name] ?? RETRY_AFTER_HELP;
  return new ApiError("quota_exceeded", null, { retryAfter, message: quotaMessage(quota) });
}

/**
 * Guards one quota of an app, for a change that is not a request. Locks the app if it has this quota. Call it before any
 * other row is locked: see `sql.ts`.
 * @param count how much is used. It is called after the app is locked.
 * @returns throws `quota_exceeded` when `more` does not fit. A change that uses no more always fits.
 */
export async function quotaGuard(
  trx: Trx,
  appId: string,
  name: QuotaName,
  count: () => Promise<number>,
): Promise<(more: number) => void> {
  const held = (await holdApps(trx, [appId])).get(appId);
  const limit = held?.[name] == null ? null : ((await lockQuotas(trx, [appId])).get(appId)?.[name] ?? null);
  if (limit === null) return () => undefined;
  const used = await count();
  return (more) => {
    if (more > 0 && used + more > limit) throw overQuota({ name, limit });
  };
}
