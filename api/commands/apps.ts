import { randomUUID } from "node:crypto";

import { ApiError } from "../domain/error-codes.ts";
import type { Quotas } from "../domain/quota.ts";
import { insertApp } from "../store/apps/apps.ts";
import { quotaColumns } from "../store/apps/quotas.ts";
import type { Database } from "../store/db/database.ts";
import { type IssuedToken, issueTokenIn, requireScopes, type Scope, USUAL_SCOPES } from "./api-tokens.ts";

/** Name of the token that an app is created with, unless the operator chooses another one. */
export const FIRST_TOKEN = "first";

interface AppOrder {
  name: string;
  tokenName: string;
  /** null: the usual ones. */
  scopes: readonly Scope[] | null;
  /** The app's limits from the start; those that are absent are unlimited. */
  quotas: Partial<Quotas>;
}

interface CreatedApp {
  id: string;
  createdAt: number;
  token: IssuedToken;
}

/** Creates an app and its first token, in one commit. @returns null when another app has the name. */
export function insertAppWithToken(database: Database, order: AppOrder): Promise<CreatedApp | null> {
  const { name, tokenName, scopes, quotas } = order;
  const [id, createdAt] = [randomUUID(), Date.now()];
  return database.write(async (trx) => {
    if (!(await insertApp(trx, { id, name, created_at: createdAt, ...quotaColumns(quotas) }))) return null;
    const token = await issueTokenIn(trx, { appId: id, name: tokenName, scopes, expiresAt: null });
    return { id, createdAt, token };
  });
}

/**
 * Creates an app for the operator's session.
 * @param manager what the session may do. Nobody gives away more than that.
 * @throws ApiError `forbidden` when the session lacks one of the scopes; `app_name_taken`
 */
export async function createApp(
  { database }: { database: Database },
  manager: { scopes: readonly Scope[] },
  order: AppOrder,
): Promise<CreatedApp> {
  const scopes = requireScopes(manager, order.scopes ?? manager.scopes.filter((scope) => USUAL_SCOPES.includes(scope)));
  const created = await insertAppWithToken(database, { ...order, scopes });
  if (created !== null) return created;
  const message = "Another app has this name. Choose another one.";
  throw new ApiError("app_name_taken", [{ field: "name", code: "app_name_taken", message }]);
}
