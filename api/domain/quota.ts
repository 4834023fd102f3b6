import type { Command } from "./command.ts";

/** What an operator can limit for one app, by its name in answers, in settings and in the database. */
export const QUOTA_NAMES = [
  "media_bytes",
  "media_requests",
  "wallets",
  "stored_bytes",
  "collections",
  "mints",
  "api_tokens",
] as const;
export type QuotaName = (typeof QUOTA_NAMES)[number];

export const QUOTA_DESCRIPTIONS: Record<QuotaName, string> = {
  media_bytes:
    "Bytes of the files that the app uploaded or that its requests copied (`copy_media`). Each file counts once, until the operator deletes it with `media collect`.",
  media_requests: "Requests that wait for their media (`copy_media`, freezing).",
  wallets: "Wallets of the app.",
  stored_bytes:
    "Bytes of metadata (as JSON in UTF-8) and unlockable content that the app's requests have stored. A change of metadata counts by its new size. What belongs to a failed request does not count.",
  collections: "Requests for a new collection that did not fail.",
  mints: "Requests to mint that did not fail. A request counts once, however many copies it mints.",
  api_tokens: "Tokens of the app that are neither revoked nor expired.",
};

/** The limits of one app; null: unlimited. */
export type Quotas = Record<QuotaName, number | null>;

/** Of a new app. They bound what nobody counts by hand: rows and bytes that stay for ever, contracts to follow, tokens. */
export const DEFAULT_QUOTAS: Quotas = {
  media_bytes: null,
  media_requests: null,
  wallets: null,
  stored_bytes: 1_000_000_000,
  collections: 200,
  mints: null,
  api_tokens: 100,
};

/** How much of each quota is used, and the limits. */
export type QuotaUse = Record<QuotaName, { used: number; limit: number | null }>;

/** A quota that is used up. */
export interface UsedQuota {
  name: QuotaName;
  limit: number;
}

const ASK = "Ask the operator for a higher quota.";

const NEXT_STEPS: Record<QuotaName, string> = {
  media_bytes: "Store no more media (send requests without `copy_media`), or ask the operator for a higher quota.",
  media_requests: "Wait until the media of earlier requests are copied, then send the request again.",
  wallets: ASK,
  stored_bytes: "Send less metadata or unlockable content, or ask the operator for a higher quota.",
  collections: ASK,
  mints: ASK,
  api_tokens: "Revoke tokens that are not used any more, or ask the operator for a higher quota.",
};

/** What happened, and what to do next. */
export function quotaMessage({ name, limit }: UsedQuota): string {
  const state = name === "stored_bytes" ? "has no room left for this in its quota" : "has used up its quota";
  return `The app ${state} \`${name}\`, which is ${limit.toString()}. ${NEXT_STEPS[name]}`;
}

/**
 * What a request counts in `stored_bytes`: its metadata, and its unlockable content before encryption.
 * @param unlockable a compact JWE. Its fourth part is the ciphertext, which is as long as the text.
 * @returns bytes.
 */
export function storedBytesOf(command: Command, unlockable: string | null): number {
  const metadata = "metadata" in command ? command.metadata : null;
  const ciphertext = unlockable?.split(".")[3] ?? "";
  return (
    (metadata === null ? 0 : Buffer.byteLength(JSON.stringify(metadata))) + Buffer.byteLength(ciphertext, "base64url")
  );
}
