import type { LookUps } from "../commands/look-ups.ts";
import { isError, orError, type OrError } from "../commands/or-error.ts";
import { requireScope } from "./authenticate.ts";
import type { Call } from "./endpoint.ts";

type Caller = Pick<Call<unknown, unknown, unknown>, "scopes" | "session">;

interface Item {
  to_user?: string | undefined;
}

/** `to_user` may create a wallet, so it needs the scope of `POST /v1/accounts`, too. @throws ApiError `forbidden` */
export function requireScopeFor(caller: Caller, { to_user: user }: Item): void {
  if (user !== undefined) requireScope(caller, "accounts", "`to_user`");
}

/** The same for the items of a batch: one that is refused does not keep the others from being accepted. */
export function withScope<I extends Item>(caller: Caller, items: readonly OrError<I>[]): OrError<I>[] {
  return items.map((item) =>
    isError(item)
      ? item
      : orError(() => {
          requireScopeFor(caller, item);
          return item;
        }),
  );
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
