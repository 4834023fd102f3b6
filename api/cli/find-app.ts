import { OperatorError } from "../operator/operator-error.ts";
import { findApp } from "../store/apps/apps.ts";
import type { Db } from "../store/db/engine.ts";
import type { AppRow } from "../store/db/schema.ts";

/** @param which the app's name or id. @throws OperatorError */
export async function appNamed(db: Db, which: string): Promise<AppRow> {
  const app = await findApp(db, which);
  if (app === undefined)
    throw new OperatorError(`There is no app with the name or id ${which}. \`app list\` shows all.`);
  return app;
}
