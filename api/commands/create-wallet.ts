import { fieldError } from "../domain/error-codes.ts";
import type { WalletDeriver } from "../keys/wallet-deriver.ts";
import { insertWallet } from "../store/apps/wallets.ts";
import { answerOfEarlierCall, type Caller, claimKey, type IdempotencyDeps } from "./idempotency.ts";

export interface CreateWalletDeps extends IdempotencyDeps {
  deriver: WalletDeriver;
}

/**
 * Creates a wallet of the app.
 * @param userIdentifier the app's name for a user; null: a wallet without a user.
 * @returns the JSON text of the answer.
 * @throws ApiError `user_identifier_taken`
 */
export async function createWallet(
  deps: CreateWalletDeps,
  caller: Caller,
  userIdentifier: string | null,
): Promise<string> {
  const earlier = await answerOfEarlierCall(deps, caller);
  if (earlier !== null) return earlier;
  const { address, path } = deps.deriver.derive(caller.appId, userIdentifier);
  const response = JSON.stringify({ address, user_identifier: userIdentifier });
  return deps.database.write(async (trx) => {
    const now = Date.now();
    const replayed = await claimKey(deps, trx, caller, response, now);
    if (replayed !== null) return replayed;
    const wallet = { address, app_id: caller.appId, user_identifier: userIdentifier, path, created_at: now };
    if (!(await insertWallet(trx, wallet))) {
      throw fieldError("user_identifier_taken", "user_identifier", "This app already has a wallet for this user.");
    }
    return response;
  });
}
