import { InvalidArgumentError } from "commander";

import { isScope, type Scope, SCOPES } from "../commands/access-token.ts";

/** Reads scopes, separated by commas. */
export function readScopes(text: string): Scope[] {
  const names = [...new Set(text.split(",").map((name) => name.trim()))];
  const scopes = names.filter(isScope);
  if (scopes.length !== names.length) throw new InvalidArgumentError(`Valid scopes are ${SCOPES.join(", ")}.`);
  return scopes;
}
