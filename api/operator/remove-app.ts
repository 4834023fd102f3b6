import { appOwnsSomething, deleteApp } from "../store/apps/apps.ts";
import type { Database } from "../store/db/database.ts";
import type { AppRow } from "../store/db/schema.ts";
import { OperatorError } from "./operator-error.ts";

/** @throws OperatorError when the app owns wallets or has made requests. */
export async function removeApp(deps: { database: Database }, app: AppRow): Promise<void> {
  await deps.database.write(async (trx) => {
    if (await appOwnsSomething(trx, app.id)) {
      throw new OperatorError(
        `The app ${app.name} has wallets or requests and is kept: what it owns on chain could not be reached any more. ` +
          "Revoke its tokens to lock it out.",
      );
    }
    await deleteApp(trx, app.id);
  });
}
