import { ApiError } from "../domain/error-codes.ts";
import { quotaMessage, type QuotaName, type Quotas, type UsedQuota } from "../domain/quota.ts";
import { findWallets } from "../store/apps/wallets.ts";
import { counterKeys, readCounters } from "../store/db/counters.ts";
import type { Trx } from "../store/db/sql.ts";

/** `Retry-After` in seconds. Media are copied all the time; for the other quotas, somebody makes room or gives a higher quota. */
const RETRY_AFTER: Partial<Record<QuotaName, number>> = { media_requests: 30 };

const RETRY_AFTER_HELP = 3_600;

/** The error of a call that a quota of its app refuses. */
export function overQuota(quota: UsedQuota): ApiError {
  const retryAfter = RETRY_AFTER[quota.name] ?? RETRY_AFTER_HELP;
  return new ApiError("quota_exceeded", null, { retryAfter, message: quotaMessage(quota) });
}

interface QuotaCandidate {
  wallet: { address: string; appId: string };
}

/**
 * The new wallets for which their apps' quotas have no room, by address. A wallet that exists needs no room.
 * @param candidates at most one for each address, in the order of the calls.
 * @param quotas those of the apps that are locked (`lockQuotas`). Without any, nothing is read.
 */
export async function findOverQuota(
  trx: Trx,
  candidates: readonly QuotaCandidate[],
  quotas: ReadonlyMap<string, Quotas>,
): Promise<Map<string, UsedQuota>> {
  const over = new Map<string, UsedQuota>();
  const wallets = candidates.flatMap(({ wallet }) => (quotas.has(wallet.appId) ? [wallet] : []));
  if (wallets.length === 0) return over;
  const stored = await findWallets(trx, wallets);
  const counters = await readCounters(
    trx,
    [...quotas.keys()].map((app) => counterKeys.wallets(app)),
  );
  const used = new Map([...quotas.keys()].map((app) => [app, counters.get(counterKeys.wallets(app)) ?? 0]));
  for (const [index, { appId, address }] of wallets.entries()) {
    const limit = quotas.get(appId)?.wallets ?? null;
    if (limit === null || stored[index] !== undefined) continue;
    const count = used.get(appId) ?? 0;
    if (count >= limit) over.set(address, { name: "wallets", limit });
    else used.set(appId, count + 1);
  }
  return over;
}
