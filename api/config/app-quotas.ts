import { z } from "zod";

import type { Quotas } from "../domain/quota.ts";

const NONE = "none";

/** A limit, or `none` (null). */
const limit = z
  .string()
  .refine(
    (text) => text === NONE || (/^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text))),
    `must be ${NONE}, or a whole number from 0 to ${Number.MAX_SAFE_INTEGER.toString()}`,
  )
  .transform((text) => (text === NONE ? null : Number(text)));

/**
 * The quotas that an app gets when it is created. Apps that exist keep theirs. The defaults bound what nobody counts by hand:
 * rows and bytes that stay for ever, collections (each is a contract that the indexer follows) and tokens.
 */
export const APP_QUOTA_VARIABLES = {
  APP_QUOTA_MEDIA_BYTES: {
    schema: limit,
    fallback: NONE,
    description: "Quota `media_bytes` of a new app, or `none`. `app quota` changes the quotas of an app later.",
  },
  APP_QUOTA_MEDIA_REQUESTS: {
    schema: limit,
    fallback: NONE,
    description: "Quota `media_requests` of a new app, or `none`.",
  },
  APP_QUOTA_WALLETS: { schema: limit, fallback: NONE, description: "Quota `wallets` of a new app, or `none`." },
  APP_QUOTA_STORED_BYTES: {
    schema: limit,
    fallback: "1000000000",
    description: "Quota `stored_bytes` of a new app (metadata and unlockable content), or `none`.",
  },
  APP_QUOTA_COLLECTIONS: {
    schema: limit,
    fallback: "200",
    description:
      "Quota `collections` of a new app, or `none`. Above `LOG_TOPICS_ABOVE` contracts, all apps together, log queries read the whole chain.",
  },
  APP_QUOTA_MINTS: { schema: limit, fallback: NONE, description: "Quota `mints` of a new app, or `none`." },
  APP_QUOTA_API_TOKENS: {
    schema: limit,
    fallback: "100",
    description: "Quota `api_tokens` of a new app, or `none`.",
  },
} as const;

type AppQuotaVariable = keyof typeof APP_QUOTA_VARIABLES;

export function readAppQuotas(read: (variable: AppQuotaVariable) => number | null): Quotas {
  return {
    media_bytes: read("APP_QUOTA_MEDIA_BYTES"),
    media_requests: read("APP_QUOTA_MEDIA_REQUESTS"),
    wallets: read("APP_QUOTA_WALLETS"),
    stored_bytes: read("APP_QUOTA_STORED_BYTES"),
    collections: read("APP_QUOTA_COLLECTIONS"),
    mints: read("APP_QUOTA_MINTS"),
    api_tokens: read("APP_QUOTA_API_TOKENS"),
  };
}
