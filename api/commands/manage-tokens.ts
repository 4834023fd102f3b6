import { ApiError } from "../domain/error-codes.ts";
import {
  countLiveTokens,
  findApiToken,
  lockApiToken,
  revokeApiToken,
  type StoredToken,
} from "../store/apps/api-tokens.ts";
import type { Database } from "../store/db/database.ts";
import type { Scope } from "./access-token.ts";
import { type IssuedToken, issueTokenIn } from "./issue-token.ts";
import { Room } from "./request-quotas.ts";

/*
 * What a console session may do with the tokens of its app. Nobody gains or takes away more than the session itself may do:
 * a session that only reads can neither create a token that mints nor revoke one.
 */

interface Deps {
  database: Database;
  now?: () => number;
}

/** Who manages tokens. */
interface Manager {
  appId: string;
  scopes: readonly Scope[];
}

export interface TokenWish {
  name: string;
  scopes: readonly Scope[];
  /** null: the token never expires. */
  expiresInDays: number | null;
  /** Calls a minute; null: only the app is limited. */
  ratePerMinute: number | null;
}

const DAY = 86_400_000;

/** @throws ApiError `forbidden` when the session lacks one of the scopes; `quota_exceeded` when the app has enough tokens. */
export async function createToken(
  { database, now = Date.now }: Deps,
  manager: Manager,
  wish: TokenWish,
): Promise<IssuedToken> {
  const scopes = [...new Set(wish.scopes)];
  const missing = scopes.filter((scope) => !manager.scopes.includes(scope));
  if (missing.length > 0) {
    const names = missing.map((scope) => `\`${scope}\``).join(", ");
    const message = `The session itself lacks ${names}. Choose other scopes, or use a session with these.`;
    throw new ApiError("forbidden", [{ field: "scopes", code: "forbidden", message }], { message });
  }
  const expiresAt = wish.expiresInDays === null ? null : now() + wish.expiresInDays * DAY;
  const { appId } = manager;
  const { name, ratePerMinute } = wish;
  return database.write(async (trx) => {
    const count = async () => (await countLiveTokens(trx, [appId], now())).get(appId) ?? 0;
    (await Room.read(trx, appId, "api_tokens", count)).require(1);
    return issueTokenIn(trx, { appId, name, scopes, expiresAt, ratePerMinute });
  });
}

/**
 * Revokes a token of the app. It stops working at once. One that is revoked already keeps its time.
 * @throws ApiError `not_found`; `forbidden` when the token has a scope that the session lacks.
 */
export async function revokeToken(
  { database, now = Date.now }: Deps,
  manager: Manager,
  tokenId: string,
): Promise<StoredToken> {
  return database.write(async (trx) => {
    const token = await lockApiToken(trx, tokenId);
    if (token?.app_id !== manager.appId) throw new ApiError("not_found");
    if (token.scopes.some((scope) => !manager.scopes.some((own) => own === scope))) {
      const message = "The token has scopes that the session lacks. Use a session with all scopes of the token.";
      throw new ApiError("forbidden", null, { message });
    }
    await revokeApiToken(trx, tokenId, now());
    return (await findApiToken(trx, tokenId)) ?? token;
  });
}
