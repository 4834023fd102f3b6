import { endApiToken, findApiToken, lockApiToken, revokeApiToken, type StoredToken } from "../store/apps/api-tokens.ts";
import type { Database } from "../store/db/database.ts";
import { isScope, type IssuedToken, issueTokenIn } from "../commands/api-tokens.ts";
import { OperatorError } from "./operator-error.ts";

export interface RotatedToken {
  /** The replaced token, after the change. */
  old: StoredToken;
  issued: IssuedToken;
}

/**
 * Replaces a token with a new one that has the same name, scopes, rate limit and expiry. One transaction does both, so there is always
 * a valid token.
 * @param grace milliseconds for which the old token still works; 0 revokes it at once.
 * @throws OperatorError when the token is unknown, revoked or expired.
 */
export function rotateToken(deps: { database: Database }, id: string, grace: number): Promise<RotatedToken> {
  return deps.database.write(async (trx) => {
    const now = Date.now();
    const token = await lockApiToken(trx, id);
    if (token === undefined)
      throw new OperatorError(`There is no token with the id ${id}. \`token list <app>\` shows the ids.`);
    if (token.revoked_at !== null || (token.expires_at ?? Infinity) <= now) {
      throw new OperatorError(`The token ${token.name} is revoked or expired. Create a new one with \`token create\`.`);
    }
    const scopes = token.scopes.filter(isScope);
    const { app_id: appId, name, expires_at: expiresAt, rate_limit_per_minute: ratePerMinute } = token;
    const order = { appId, name, scopes, expiresAt, ratePerMinute };
    const issued = await issueTokenIn(trx, order);
    if (grace === 0) await revokeApiToken(trx, id, now);
    else await endApiToken(trx, id, now + grace);
    return { old: (await findApiToken(trx, id)) ?? token, issued };
  });
}
