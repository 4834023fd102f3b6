import { hasControls, NO_CONTROLS } from "../../client/rules/storable.ts";
import { ApiError, fieldError } from "../domain/error-codes.ts";
import { findWallets, findWalletsOfUsers, setUserIdentifiers } from "../store/apps/wallets.ts";
import type { WalletRow } from "../store/db/schema.ts";
import type { CommandContext } from "./context.ts";

/**
 * Gives a wallet of the app another user identifier, or removes it. The wallet keeps its address, its tokens and its requests.
 * Nothing else stores the name, so from then on every answer has the new one.
 * @param userIdentifier null: the wallet belongs to no user from then on.
 * @throws ApiError `not_found`, `user_identifier_taken`, `validation_failed`
 */
export function renameWallet(
  { database }: Pick<CommandContext, "database">,
  appId: string,
  address: string,
  userIdentifier: string | null,
): Promise<WalletRow> {
  if (userIdentifier !== null && hasControls(userIdentifier)) {
    const error = { field: "user_identifier", code: "invalid_format", message: NO_CONTROLS };
    throw new ApiError("validation_failed", [error]);
  }
  // On PostgreSQL, a name that another transaction takes meanwhile breaks the unique index, and this one runs again.
  return database.write(async (trx) => {
    const [wallet] = await findWallets(trx, [{ appId, address }]);
    if (wallet === undefined) throw new ApiError("not_found");
    const [taken] = userIdentifier === null ? [] : await findWalletsOfUsers(trx, [{ appId, userIdentifier }]);
    if (taken !== undefined && taken.address !== address)
      throw fieldError("user_identifier_taken", "user_identifier", "Another wallet of this app already has this user.");
    await setUserIdentifiers(trx, [{ address, user_identifier: userIdentifier }]);
    return { ...wallet, user_identifier: userIdentifier };
  });
}
