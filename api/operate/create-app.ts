import { randomUUID } from "node:crypto";

import type { Database } from "../store/db/database.ts";
import { insertApp } from "../store/apps/apps.ts";
import { quotaColumns } from "../store/apps/quotas.ts";
import type { Quotas } from "../domain/quota.ts";
import { issueTokenIn } from "../commands/api-tokens.ts";
import { OperatorError } from "./operator-error.ts";

/**
 * Creates an app and its first token, which has every scope.
 * @param quotas its limits from the start; those that are absent are unlimited.
 * @throws OperatorError when the name is taken.
 */
export async function createApp(
  deps: { database: Database },
  name: string,
  quotas: Partial<Quotas> = {},
): Promise<{ appId: string; name: string; token: string }> {
  const trimmed = name.trim();
  if (trimmed === "" || trimmed.length > 100)
    throw new OperatorError("The name of an app must have 1 to 100 characters.");
  const id = randomUUID();
  const issued = await deps.database.write(async (trx) => {
    if (!(await insertApp(trx, { id, name: trimmed, created_at: Date.now(), ...quotaColumns(quotas) }))) {
      throw new OperatorError(
        `An app named ${trimmed} already exists. Choose another name, or list the apps with \`app list\`.`,
      );
    }
    return issueTokenIn(trx, { appId: id, name: "first", scopes: null, expiresAt: null });
  });
  return { appId: id, name: trimmed, token: issued.token };
}
