import { ApiError } from "../domain/error-codes.ts";
import { quotaMessage, type QuotaName, type UsedQuota } from "../domain/quota.ts";

/** `Retry-After` in seconds. Media are copied all the time; for the other quotas, somebody makes room or gives a higher quota. */
const RETRY_AFTER: Partial<Record<QuotaName, number>> = { media_requests: 30 };
const RETRY_AFTER_HELP = 3_600;

/** The error of a call that a quota of its app refuses. */
export function overQuota(quota: UsedQuota): ApiError {
  const retryAfter = RETRY_AFTER[quota.name] ?? RETRY_AFTER_HELP;
  return new ApiError("quota_exceeded", null, { retryAfter, message: quotaMessage(quota) });
}
