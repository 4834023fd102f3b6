import { ApiError } from "../domain/error-codes.ts";
import { quotaMessage, type QuotaName, type UsedQuota } from "../domain/quota.ts";

/** `Retry-After` in seconds. Media are copied all the time; for the other quotas, the operator or `media collect` makes room. */
const RETRY_AFTER: Record<QuotaName, number> = { media_requests: 30, media_bytes: 3_600, wallets: 3_600 };

/** The error of a call that a quota of its app refuses. */
export function overQuota(quota: UsedQuota): ApiError {
  return new ApiError("quota_exceeded", null, { retryAfter: RETRY_AFTER[quota.name], message: quotaMessage(quota) });
}
