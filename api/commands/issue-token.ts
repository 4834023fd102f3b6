import { randomUUID } from "node:crypto";

import { insertApiToken } from "../store/apps/api-tokens.ts";
import type { Database } from "../store/db/database.ts";
import type { Trx } from "../store/db/engine.ts";
import { hashOfToken, newAccessToken, type Scope, SCOPES } from "./access-token.ts";

export interface TokenOrder {
  appId: string;
  /** For the operator's own reference. */
  name: string;
  /** null: every scope. */
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
  const token = newAccessToken();
  const scopes = order.scopes ?? SCOPES;
  const createdAt = Date.now();
  await insertApiToken(trx, {
    id,
    app_id: order.appId,
    name: order.name,
    hash: hashOfToken(token),
    scopes: [...scopes],
    expires_at: order.expiresAt,
    revoked_at: null,
    rate_limit_per_minute: order.ratePerMinute ?? null,
    created_at: createdAt,
  });
  return { id, token, scopes, expiresAt: order.expiresAt, createdAt };
}
