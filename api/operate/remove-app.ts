import { appOwnsSomething, deleteApp, lockApp } from "../store/apps/apps.ts";
import type { Database } from "../store/db/database.ts";
import type { AppRow } from "../store/db/schema.ts";
import { OperatorError } from "./operator-error.ts";

/** @throws OperatorError when the app has wallets, requests or files. */
export async function removeApp(deps: { database: Database }, app: Pick<AppRow, "id" | "name">): Promise<void> {
  await deps.database.write(async (trx) => {
    await lockApp(trx, app.id);
    if (await appOwnsSomething(trx, app.id)) {
      throw new OperatorError(
        `The app ${app.name} has wallets, requests or uploaded files, so it was not removed: they would become unreachable. ` +
          "To lock the app out, revoke its tokens.",
      );
    }
    await deleteApp(trx, app.id);
  });
}
