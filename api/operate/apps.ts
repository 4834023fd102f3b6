import { FIRST_TOKEN, insertAppWithToken } from "../commands/apps.ts";
import { isScope, type IssuedToken, issueTokenIn } from "../commands/api-tokens.ts";
import { isValid } from "../commands/credential.ts";
import { MAX_APP_NAME } from "../config/limits.ts";
import type { Quotas } from "../domain/quota.ts";
import { endApiToken, findApiToken, lockApiToken, revokeApiToken, type StoredToken } from "../store/apps/api-tokens.ts";
import { appOwnsSomething, deleteApp, lockApp } from "../store/apps/apps.ts";
import type { Database } from "../store/db/database.ts";
import type { AppRow } from "../store/db/schema.ts";
import { OperatorError } from "./operator-error.ts";

/**
 * Creates an app and its first token, which has the usual scopes.
 * @param quotas its limits from the start; those that are absent are unlimited.
 * @throws OperatorError when the name is taken.
 */
export async function createApp(
  deps: { database: Database },
  name: string,
  quotas: Partial<Quotas> = {},
): Promise<{ appId: string; name: string; token: string }> {
  const trimmed = name.trim();
  if (trimmed === "" || trimmed.length > MAX_APP_NAME)
    throw new OperatorError(`The name of an app must have 1 to ${MAX_APP_NAME.toString()} characters.`);
  const order = { name: trimmed, tokenName: FIRST_TOKEN, scopes: null, quotas };
  const created = await insertAppWithToken(deps.database, order);
  if (created === null) {
    throw new OperatorError(
      `An app named ${trimmed} already exists. Choose another name, or list the apps with \`app list\`.`,
    );
  }
  return { appId: created.id, name: trimmed, token: created.token.token };
}

/** @throws OperatorError when the app has wallets, requests, collections or files. */
export async function removeApp(deps: { database: Database }, app: Pick<AppRow, "id" | "name">): Promise<void> {
  await deps.database.write(async (trx) => {
    await lockApp(trx, app.id);
    if (await appOwnsSomething(trx, app.id)) {
      throw new OperatorError(
        `The app ${app.name} has wallets, requests, collections or uploaded files, so it was not removed: they would become unreachable. ` +
          "To lock the app out, revoke its tokens.",
      );
    }
    await deleteApp(trx, app.id);
  });
}

interface RotatedToken {
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
    if (!isValid(token, now)) {
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
