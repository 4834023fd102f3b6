import { createHash, randomBytes } from "node:crypto";

/** What a token may do. A token without any of them opens nothing. */
export const SCOPES = ["read", "accounts", "collections", "mint", "transfer", "webhooks"] as const;
export type Scope = (typeof SCOPES)[number];

/** Lets secret scanners find tokens that leaked. */
const PREFIX = "moneta_";
const SHAPE = /^moneta_[A-Za-z0-9_-]{43}$/;

/** A new access token: 32 random bytes behind a fixed prefix. */
export function newAccessToken(): string {
  return PREFIX + randomBytes(32).toString("base64url");
}

/** What is stored in place of the token. It is random enough that no salt or slow hash adds anything. */
export function hashOfToken(token: string): string {
  return createHash("sha256").update(token, "utf8").digest("hex");
}

/** Whether the text can be an access token at all: spares the look-up of what cannot. */
export function looksLikeToken(text: string): boolean {
  return SHAPE.test(text);
}

export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text);
}
