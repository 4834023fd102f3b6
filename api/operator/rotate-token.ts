import { endApiToken, findApiToken, revokeApiToken, type StoredToken } from "../store/apps/api-tokens.ts";
import type { Database } from "../store/db/database.ts";
import { isScope } from "../commands/access-token.ts";
import { type IssuedToken, issueTokenIn } from "./issue-token.ts";
import { OperatorError } from "./operator-error.ts";

export interface RotatedToken {
  /** The token that is replaced, as it is now. */
  old: StoredToken;
  issued: IssuedToken;
}

/**
 * Puts a new token of the same name, scopes and end in the place of one, in one transaction: there is no moment without
 * a token that works.
 * @param grace milliseconds for which the old one still works; 0 revokes it at once.
 * @throws OperatorError when there is no such token, or it does not work any more.
 */
export function rotateToken(deps: { database: Database }, id: string, grace: number): Promise<RotatedToken> {
  return deps.database.write(async (trx) => {
    const now = Date.now();
    const token = await findApiToken(trx, id);
    if (token === undefined) throw new OperatorError(`There is no token with the id ${id}.`);
    if (token.revoked_at !== null || (token.expires_at ?? Infinity) <= now) {
      throw new OperatorError(`The token ${token.name} does not work any more; make a new one with token create.`);
    }
    const scopes = token.scopes.filter(isScope);
    const order = { appId: token.app_id, name: token.name, scopes, expiresAt: token.expires_at };
    const issued = await issueTokenIn(trx, order);
    if (grace === 0) await revokeApiToken(trx, id, now);
    else await endApiToken(trx, id, now + grace);
    return { old: (await findApiToken(trx, id)) ?? token, issued };
  });
}
