import type { LookUps } from "../commands/look-ups.ts";

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
