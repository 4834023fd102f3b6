import type { Scope } from "../commands/api-tokens.ts";
import type { LookUps } from "../commands/look-ups.ts";
import { requireScope, type SessionIdentity } from "./authenticate.ts";

/** What a caller may do, and with what: see `Identity`. */
export interface ScopedCaller {
  scopes: readonly Scope[];
  session: SessionIdentity | null;
}

/** `to_user` may create a wallet, so it needs the scope of `POST /v1/accounts`, too. @throws ApiError `forbidden` */
export function requireScopeFor(caller: ScopedCaller, item: object): void {
  if ("to_user" in item && item.to_user !== undefined) requireScope(caller, "accounts", "`to_user`");
}

/**
 * The address that a filter names, by itself or by the app's user who has the wallet there.
 * @returns null: the filter is not set. undefined: the user has no wallet.
 */
export async function walletOf(
  lookUps: LookUps,
  appId: string,
  wallet: string | undefined,
  user: string | undefined,
): Promise<string | null | undefined> {
  if (user === undefined) return wallet ?? null;
  const [found] = await lookUps.walletsOfUsers([{ appId, userIdentifier: user }]);
  return found?.address;
}
