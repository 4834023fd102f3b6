/** What an operator can limit for one app, by its name in answers and in the database. */
export const QUOTA_NAMES = ["media_bytes", "media_requests", "wallets"] as const;
export type QuotaName = (typeof QUOTA_NAMES)[number];

export const QUOTA_DESCRIPTIONS: Record<QuotaName, string> = {
  media_bytes:
    "Bytes of the files that the app uploaded or that its requests copied (`copy_media`). Each file counts once, until the operator deletes it with `media collect`.",
  media_requests: "Requests that wait for their media (`copy_media`, freezing).",
  wallets: "Wallets of the app.",
};

/** The limits of one app; null: unlimited. */
export type Quotas = Record<QuotaName, number | null>;

/** How much of each quota is used, and the limits. */
export type QuotaUse = Record<QuotaName, { used: number; limit: number | null }>;

/** A quota that is used up. */
export interface UsedQuota {
  name: QuotaName;
  limit: number;
}

const NEXT_STEPS: Record<QuotaName, string> = {
  media_bytes: "Store no more media (send requests without `copy_media`), or ask the operator for a higher quota.",
  media_requests: "Wait until the media of earlier requests are copied, then send the request again.",
  wallets: "Ask the operator for a higher quota.",
};

/** What happened, and what to do next. */
export function quotaMessage({ name, limit }: UsedQuota): string {
  return `The app has used up its quota \`${name}\`, which is ${limit.toString()}. ${NEXT_STEPS[name]}`;
}
