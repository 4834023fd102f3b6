import { ApiError, fieldError } from "../domain/error-codes.ts";
import type { WalletDeriver } from "../keys/wallet-deriver.ts";
import { mapInSlices } from "../shared/in-slices.ts";
import { hasControls, NO_CONTROLS } from "../../client/rules/storable.ts";
import { findWalletsOfUsers, insertWallets, type NewWallet, type WalletOwner } from "../store/apps/wallets.ts";
import { InsertedMeanwhile } from "../store/db/errors.ts";
import type { Trx } from "../store/db/sql.ts";
import type { AppQuotas } from "./app-quotas.ts";
import type { CommandContext } from "./context.ts";
import { answerOfEarlierCall, type Caller, keyOf } from "./idempotency.ts";
import { together } from "./look-ups.ts";

/** Deriving a wallet takes as long as answering a few calls, so other calls get their turn in between. */
export function createWalletDerivation(deriver: WalletDeriver): CommandContext["deriveWallets"] {
  return together((owners: readonly WalletOwner[]) =>
    mapInSlices(owners, (owner) => ({ ...owner, ...deriver.derive(owner.appId, owner.userIdentifier) })),
  );
}

/**
 * Creates a wallet of the app.
 * @param userIdentifier the app's name for a user; null: a wallet without a user.
 * @returns the JSON text of the answer.
 * @throws ApiError `user_identifier_taken`, `quota_exceeded`, `validation_failed`
 */
export async function createWallet(
  context: CommandContext,
  caller: Caller,
  userIdentifier: string | null,
): Promise<string> {
  const earlier = await answerOfEarlierCall(context, caller);
  if (earlier !== null) return earlier.json;
  await refuseControls(context, caller, userIdentifier);
  const [wallet] = await context.deriveWallets([{ appId: caller.appId, userIdentifier }]);
  if (wallet === undefined) throw new Error("a wallet was not derived");
  const call = { caller, key: keyOf(context, caller), wallet, items: [], isBatch: false };
  return (await context.acceptQueue.decide(call)).json;
}

/** Versions before 0.4.0 took such names. The users that exist keep them. */
async function refuseControls({ lookUps }: CommandContext, { appId }: Caller, name: string | null): Promise<void> {
  if (name === null || !hasControls(name)) return;
  const [wallet] = await lookUps.walletsOfUsers([{ appId, userIdentifier: name }]);
  if (wallet !== undefined) return;
  throw new ApiError("validation_failed", [{ field: "user_identifier", code: "invalid_format", message: NO_CONTROLS }]);
}

/** The wallets that the calls of a group create, and those of them that exist. */
export class NewWallets {
  /** By `ownerKey`. */
  readonly #existing: ReadonlySet<string>;
  readonly #added = new Map<string, NewWallet>();
  /** Addresses of those that must not exist. */
  readonly #created = new Set<string>();

  private constructor(existing: ReadonlySet<string>) {
    this.#existing = existing;
  }

  /** Another call may have created the wallets since this one was checked. */
  static async read(trx: Trx, wanted: readonly NewWallet[]): Promise<NewWallets> {
    const users = wanted.flatMap(({ appId, userIdentifier }) =>
      userIdentifier === null ? [] : [{ appId, userIdentifier }],
    );
    const stored = users.length === 0 ? [] : await findWalletsOfUsers(trx, users);
    const existing = users.filter((_user, index) => stored[index] !== undefined);
    return new NewWallets(new Set(existing.map(ownerKey)));
  }

  has(wallet: NewWallet): boolean {
    const key = ownerKey(wallet);
    return this.#existing.has(key) || this.#added.has(key);
  }

  add(wallet: NewWallet): void {
    if (!this.has(wallet)) this.#added.set(ownerKey(wallet), wallet);
  }

  /** For a call that creates a wallet. @returns why it must not; null: it does. */
  create(wallet: NewWallet, quotas: AppQuotas): ApiError | null {
    const { appId, address } = wallet;
    if (this.has(wallet))
      return fieldError("user_identifier_taken", "user_identifier", "This app already has a wallet for this user.");
    const refusal = quotas.refusalOf(appId, { wallets: 1 });
    if (refusal !== null) return refusal;
    quotas.add(appId, { wallets: 1 });
    this.add(wallet);
    this.#created.add(address);
    return null;
  }

  /** In one order everywhere, so that two processes that create the same wallets do not lock each other out. */
  async store(trx: Trx, now: number): Promise<void> {
    const wallets = [...this.#added.values()].sort((a, b) => (a.address < b.address ? -1 : 1));
    const inserted = await insertWallets(trx, wallets, now);
    for (const address of this.#created)
      if (!inserted.has(address)) throw new InsertedMeanwhile(`another process has stored the wallet ${address}`);
  }
}

/** A user has one wallet in an app. A wallet without a user has an address that no other one has. */
function ownerKey({ appId, userIdentifier, address = "" }: WalletOwner & { address?: string }): string {
  return JSON.stringify(userIdentifier === null ? [appId, null, address] : [appId, userIdentifier]);
}
