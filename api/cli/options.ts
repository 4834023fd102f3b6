import { InvalidArgumentError } from "commander";
import { isScope, type Scope, SCOPES } from "../commands/api-tokens.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { findApp } from "../store/apps/apps.ts";
import type { AppRow } from "../store/db/schema.ts";
import type { Db } from "../store/db/sql.ts";

/** @param which the app's name or id. @throws OperatorError */
export async function appNamed(db: Db, which: string): Promise<AppRow> {
  const app = await findApp(db, which);
  if (app === undefined)
    throw new OperatorError(`There is no app with the name or id ${which}. \`app list\` shows all.`);
  return app;
}

/** Reads scopes, separated by commas. */
export function readScopes(text: string): Scope[] {
  const names = [...new Set(text.split(",").map((name) => name.trim()))];
  const scopes = names.filter(isScope);
  if (scopes.length !== names.length) throw new InvalidArgumentError(`Valid scopes are ${SCOPES.join(", ")}.`);
  return scopes;
}

/** Parses `--limit`. */
export function readLimit(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > 10_000)
    throw new InvalidArgumentError("Give a number from 1 to 10000.");
  return limit;
}
