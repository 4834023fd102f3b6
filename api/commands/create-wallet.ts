import { ApiError, fieldError } from "../domain/error-codes.ts";
import type { WalletDeriver } from "../keys/wallet-deriver.ts";
import { mapInSlices } from "../shared/in-slices.ts";
import { hasControls, NO_CONTROLS } from "../../client/rules/storable.ts";
import {
  findWallets,
  findWalletsOfUsers,
  insertWallets,
  type NewWallet,
  type WalletOwner,
  walletsAt,
} from "../store/apps/wallets.ts";
import { listHoldings } from "../store/ledger/listed-holdings.ts";
import { InsertedMeanwhile } from "../store/db/errors.ts";
import type { Db, Trx } from "../store/db/sql.ts";
import type { AppQuotas } from "./app-quotas.ts";
import type { CommandContext } from "./context.ts";
import { answerOfEarlierCall, type Caller, keyOf } from "./idempotency.ts";
import { together } from "./look-ups.ts";

/** Paths of a user that are tried before one that no other wallet has. */
const TURNS = 8;

/**
 * Deriving a wallet takes as long as answering a few calls, so other calls get their turn in between.
 *
 * The address that follows from a user may belong to a wallet that has another user, or none, since it was renamed; or an app has
 * named it as that of a user without a key here. Then the user gets the next of the user's addresses, the same in each process.
 */
export function createWalletDerivation(deriver: WalletDeriver, db: Db): CommandContext["deriveWallets"] {
  const derive = (owner: WalletOwner, turn: number): NewWallet => {
    const { appId, userIdentifier } = owner;
    return { ...owner, ...deriver.derive(appId, turn < TURNS ? userIdentifier : null, turn) };
  };
  return together(async (owners: readonly WalletOwner[]) => {
    let wallets = await mapInSlices(owners, (owner) => derive(owner, 0));
    const someAreNamed = owners.some(({ userIdentifier }) => userIdentifier !== null);
    for (let turn = 1; someAreNamed && turn <= TURNS; turn++) {
      const stored = await walletsAt(db, wallets);
      const isTaken = ({ appId, address, userIdentifier }: NewWallet) => {
        const wallet = stored.get(address);
        return wallet !== undefined && (wallet.app_id !== appId || wallet.user_identifier !== userIdentifier);
      };
      if (!wallets.some(isTaken)) break;
      wallets = await mapInSlices(wallets, (wallet) => (isTaken(wallet) ? derive(wallet, turn) : wallet));
    }
    return wallets;
  });
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
  /** Their addresses, by `ownerKey`. */
  readonly #existing: ReadonlyMap<string, string>;
  readonly #added = new Map<string, NewWallet>();
  /** Addresses of those that must not exist. */
  readonly #created = new Set<string>();

  private constructor(existing: ReadonlyMap<string, string>) {
    this.#existing = existing;
  }

  /** Another call may have created the wallets since this one was checked. */
  static async read(trx: Trx, wanted: readonly NewWallet[]): Promise<NewWallets> {
    const users = wanted.flatMap(({ appId, userIdentifier }) =>
      userIdentifier === null ? [] : [{ appId, userIdentifier }],
    );
    const stored = users.length === 0 ? [] : await findWalletsOfUsers(trx, users);
    const existing = users.flatMap((user, index) => {
      const address = stored[index]?.address;
      return address === undefined ? [] : [[ownerKey(user), address] as const];
    });
    return new NewWallets(new Map(existing));
  }

  has(wallet: NewWallet): boolean {
    const key = ownerKey(wallet);
    return this.#existing.has(key) || this.#added.has(key);
  }

  /** Whether the user has got another wallet since the call was checked: one that was renamed. */
  isElsewhere(wallet: NewWallet): boolean {
    return (this.#existing.get(ownerKey(wallet)) ?? wallet.address) !== wallet.address;
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
    await listHoldings(trx, "owner", inserted);
    for (const address of this.#created)
      if (!inserted.has(address)) throw new InsertedMeanwhile(`another process has stored the wallet ${address}`);
    // Another process may have stored the same wallet. It must not be somebody else's: tokens would go there.
    const others = wallets.filter(({ address }) => !inserted.has(address));
    const stored = others.length === 0 ? [] : await findWallets(trx, others);
    if (others.some(({ userIdentifier }, index) => stored[index]?.user_identifier !== userIdentifier)) throw renamed();
  }
}

/** While the call waited, a wallet was renamed to the user, or away from the user. */
export function renamed(): ApiError {
  const message = "A wallet was renamed while the call waited. Repeat the call, with the same Idempotency-Key.";
  return new ApiError("unavailable", null, { retryAfter: 1, message });
}

/** A user has one wallet in an app. A wallet without a user has an address that no other one has. */
function ownerKey({ appId, userIdentifier, address = "" }: WalletOwner & { address?: string }): string {
  return JSON.stringify(userIdentifier === null ? [appId, null, address] : [appId, userIdentifier]);
}
