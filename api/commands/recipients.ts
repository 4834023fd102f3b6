import type { FieldError } from "../domain/error-codes.ts";
import { type Checked, isError } from "./accept-request.ts";
import type { NewWallet, WalletQueue } from "./create-wallet.ts";
import type { LookUps } from "./look-ups.ts";

export interface RecipientDeps {
  lookUps: LookUps;
  creatingWallets: Pick<WalletQueue, "derive">;
}

interface Recipient {
  address: string;
  /** undefined: the user has a wallet. */
  newWallet: NewWallet | undefined;
}

/** The wallets of users, by user identifier. */
export type Recipients = ReadonlyMap<string, Recipient>;

/**
 * The wallets of the users that get tokens. A user without a wallet gets one: its address follows from the user identifier, and
 * the transaction that stores the request creates it.
 */
export async function recipientsOf(
  { lookUps, creatingWallets }: RecipientDeps,
  appId: string,
  items: readonly Checked<{ to_user?: string | undefined }>[],
): Promise<Recipients> {
  const users = [...new Set(items.flatMap((item) => (isError(item) ? [] : (item.to_user ?? []))))];
  const stored = await lookUps.walletsOfUsers(users.map((userIdentifier) => ({ appId, userIdentifier })));
  const recipients = users.map(async (userIdentifier, index): Promise<[string, Recipient]> => {
    const wallet = stored[index];
    if (wallet !== undefined) return [userIdentifier, { address: wallet.address, newWallet: undefined }];
    const { address, path } = await creatingWallets.derive({ appId, userIdentifier });
    return [userIdentifier, { address, newWallet: { address, appId, userIdentifier, path } }];
  });
  return new Map(await Promise.all(recipients));
}

/** The fields that name who gets a token by address. */
export type AddressField = "to_address" | "initial_owner";

type Destination = { [F in AddressField | "to_user"]?: string | undefined };

/** What is wrong with the destination: exactly one of the two fields must be given. */
export function destinationErrors(fields: { [F in keyof Destination]?: unknown }, field: AddressField): FieldError[] {
  const byAddress = fields[field] !== undefined;
  const byUser = fields.to_user !== undefined;
  if (byAddress !== byUser) return [];
  const [code, message] = byAddress
    ? ["conflict", `Send either ${field} or to_user, not both.`]
    : ["required", `Send ${field}, or to_user for a user of the app.`];
  return [field, "to_user"].map((name) => ({ field: name, code, message }));
}

/** Who gets the token, when the fields have no `destinationErrors`. */
export function recipientAddress(recipients: Recipients, fields: Destination, field: AddressField): string {
  const address = fields[field] ?? recipients.get(fields.to_user ?? "")?.address;
  if (address === undefined) throw new Error("the wallet of a user was not looked up");
  return address;
}

/** The wallet to create together with the request. */
export function newWalletOf(recipients: Recipients, { to_user: user }: Destination): NewWallet | undefined {
  return user === undefined ? undefined : recipients.get(user)?.newWallet;
}
