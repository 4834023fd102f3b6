import { randomUUID } from "node:crypto";

import { ApiError, forbidden } from "../domain/error-codes.ts";
import {
  findApiToken,
  insertApiToken,
  lockApiToken,
  revokeApiToken,
  type StoredToken,
} from "../store/apps/api-tokens.ts";
import type { Database } from "../store/db/database.ts";
import type { Trx } from "../store/db/sql.ts";
import { AppQuotas } from "./app-quotas.ts";
import { hashOf, looksLikeSecret, newSecret } from "./credential.ts";

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

interface TokenWish {
  name: string;
  scopes: readonly Scope[];
  /** null: the token never expires. */
  expiresInDays: number | null;
  /** Calls a minute; null: only the app is limited. */
  ratePerMinute: number | null;
}

const DAY = 86_400_000;

/** @throws ApiError `forbidden` when the session lacks one of the scopes; `quota_exceeded` when the app has enough tokens. */
export async function createApiToken(
  { database, now = Date.now }: Deps,
  manager: Manager,
  wish: TokenWish,
): Promise<IssuedToken> {
  const scopes = requireScopes(manager, wish.scopes);
  const expiresAt = wish.expiresInDays === null ? null : now() + wish.expiresInDays * DAY;
  const { appId } = manager;
  const { name, ratePerMinute } = wish;
  return database.write(async (trx) => {
    (await AppQuotas.lockOne(trx, appId, "api_tokens")).require(appId, { api_tokens: 1 });
    return issueTokenIn(trx, { appId, name, scopes, expiresAt, ratePerMinute });
  });
}

/** @returns the scopes, each once. @throws ApiError `forbidden` when the session lacks one of them. */
export function requireScopes(manager: Pick<Manager, "scopes">, wanted: readonly Scope[]): Scope[] {
  const scopes = [...new Set(wanted)];
  const missing = scopes.filter((scope) => !manager.scopes.includes(scope));
  if (missing.length === 0) return scopes;
  const names = missing.map((scope) => `\`${scope}\``).join(", ");
  const message = `The session itself lacks ${names}. Choose other scopes, or use a session with these.`;
  throw new ApiError("forbidden", [{ field: "scopes", code: "forbidden", message }], { message });
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
      throw forbidden(message);
    }
    await revokeApiToken(trx, tokenId, now());
    return (await findApiToken(trx, tokenId)) ?? token;
  });
}

interface TokenOrder {
  appId: string;
  /** For the operator's own reference. */
  name: string;
  /** null: the usual ones. */
  scopes: readonly Scope[] | null;
  /** Milliseconds since 1970; null: never. */
  expiresAt: number | null;
  /** Calls a minute; null: only the app is limited. */
  ratePerMinute?: number | null;
}

export interface IssuedToken {
  id: string;
  /** The secret. Only its hash is stored. */
  token: string;
  scopes: readonly Scope[];
  /** Milliseconds since 1970; null: never. */
  expiresAt: number | null;
  createdAt: number;
}

export function issueToken(deps: { database: Database }, order: TokenOrder): Promise<IssuedToken> {
  return deps.database.write((trx) => issueTokenIn(trx, order));
}

export async function issueTokenIn(trx: Trx, order: TokenOrder): Promise<IssuedToken> {
  const id = randomUUID();
  const token = PREFIX + newSecret();
  const scopes = order.scopes ?? USUAL_SCOPES;
  const createdAt = Date.now();
  await insertApiToken(trx, {
    id,
    app_id: order.appId,
    name: order.name,
    hash: hashOf(token),
    scopes: [...scopes],
    expires_at: order.expiresAt,
    revoked_at: null,
    rate_limit_per_minute: order.ratePerMinute ?? null,
    created_at: createdAt,
  });
  return { id, token, scopes, expiresAt: order.expiresAt, createdAt };
}

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
  "users",
] as const;
export type Scope = (typeof SCOPES)[number];

/** Those of a token for which none is named. Who may rename users takes over wallets, so that scope must be named. */
export const USUAL_SCOPES: readonly Scope[] = SCOPES.filter((scope) => scope !== "users");

/** A fixed prefix, so that secret scanners find leaked tokens. */
const PREFIX = "moneta_";

/** Whether the text has the format of an access token. Saves a database look-up if it has not. */
export function looksLikeToken(text: string): boolean {
  return text.startsWith(PREFIX) && looksLikeSecret(text.slice(PREFIX.length));
}

export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text);
}
