import { createHash, randomBytes } from "node:crypto";

/** Permissions of a token. A token without scopes permits nothing. */
export const SCOPES = [
  "read",
  "accounts",
  "collections",
  "mint",
  "transfer",
  "webhooks",
  "contracts",
  "media",
] as const;
export type Scope = (typeof SCOPES)[number];

/** A fixed prefix, so that secret scanners find leaked tokens. */
const PREFIX = "moneta_";
const SHAPE = /^moneta_[A-Za-z0-9_-]{43}$/;

/** A new access token: the prefix and 32 random bytes. */
export function newAccessToken(): string {
  return PREFIX + randomBytes(32).toString("base64url");
}

/** Stored instead of the token. The token has 256 random bits, so it needs neither a salt nor a slow hash. */
export function hashOfToken(token: string): string {
  return createHash("sha256").update(token, "utf8").digest("hex");
}

/** Whether the text has the format of an access token. Saves a database look-up if it has not. */
export function looksLikeToken(text: string): boolean {
  return SHAPE.test(text);
}

export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text);
}
