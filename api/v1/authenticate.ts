import type { Request, RequestHandler } from "express";

import { hashOfToken, isScope, looksLikeToken, type Scope } from "../commands/access-token.ts";
import type { LookUps } from "../commands/look-ups.ts";
import { ApiError } from "../domain/error-codes.ts";
import type { StoredToken } from "../store/apps/api-tokens.ts";
import type { RateLimit } from "./rate-limit.ts";

/** The app behind the token of a call, and the token's scopes. */
export interface Identity {
  appId: string;
  /** SHA-256 of the token, hex. */
  tokenHash: string;
  scopes: readonly Scope[];
}

const identities = new WeakMap<Request, Identity>();

/** Passes calls with a valid token, within the rate limit. The token is looked up at each call: a revocation works at once. */
export function authenticate(lookUps: LookUps, rates: RateLimit): RequestHandler {
  return async (request, response, next) => {
    const token = tokenOf(request.get("authorization"));
    const row = token === null ? undefined : await lookUps.token(hashOfToken(token));
    if (row === undefined || !isValid(row, Date.now())) {
      await rates.countStranger(request, response);
      throw new ApiError("unauthorized");
    }
    await rates.countToken(row.id, response);
    identities.set(request, { appId: row.app_id, tokenHash: row.hash, scopes: row.scopes.filter(isScope) });
    next();
  };
}

/** Whether a token is neither revoked nor expired. */
export function isValid(token: Pick<StoredToken, "revoked_at" | "expires_at">, now: number): boolean {
  return token.revoked_at === null && (token.expires_at ?? Infinity) > now;
}

/** @throws ApiError `forbidden` when the token lacks the scope. */
export function identityFor(request: Request, scope: Scope): Identity {
  const identity = identities.get(request);
  if (identity === undefined) throw new ApiError("unauthorized");
  if (!identity.scopes.includes(scope)) {
    const message = `The token lacks the scope \`${scope}\`, which this call needs. Use a token with that scope.`;
    throw new ApiError("forbidden", null, { message });
  }
  return identity;
}

/** Reads `Bearer <token>`, or the token alone. */
function tokenOf(header: string | undefined): string | null {
  const token = (header ?? "").trim().replace(/^bearer +/i, "");
  return looksLikeToken(token) ? token : null;
}
