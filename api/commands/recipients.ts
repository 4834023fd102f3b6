import { refusalOfNewUser } from "../../client/rules/receiver-name.ts";
import { ApiError, type FieldError } from "../domain/error-codes.ts";
import { hasControls, NO_CONTROLS } from "../../client/rules/storable.ts";
import type { NewWallet } from "../store/apps/wallets.ts";
import type { CommandContext } from "./context.ts";
import { isError, type OrError } from "./or-error.ts";

interface Recipient {
  address: string;
  /** Absent: the user has a wallet. */
  newWallet?: NewWallet;
}

/** The wallets of users, by user identifier; an error for a name that does not become a user without being asked for. */
export type Recipients = ReadonlyMap<string, OrError<Recipient>>;

/**
 * The wallets of the users that get tokens. A user without a wallet gets one: its address follows from the user identifier, and
 * the transaction that stores the request creates it.
 */
export async function recipientsOf(
  { lookUps, deriveWallets }: CommandContext,
  appId: string,
  items: readonly OrError<{ to_user?: string | undefined }>[],
): Promise<Recipients> {
  const names = new Set(items.flatMap((item) => (isError(item) ? [] : (item.to_user ?? []))));
  const users = Array.from(names, (userIdentifier) => ({ appId, userIdentifier }));
  const stored = await lookUps.walletsOfUsers(users);
  const recipients = new Map<string, OrError<Recipient>>();
  const without: typeof users = [];
  for (const [index, user] of users.entries()) {
    const known = stored[index] ?? refusalOfUser(user.userIdentifier);
    if (known === null) without.push(user);
    else recipients.set(user.userIdentifier, isError(known) ? known : { address: known.address });
  }
  for (const newWallet of await deriveWallets(without))
    recipients.set(newWallet.userIdentifier ?? "", { address: newWallet.address, newWallet });
  return recipients;
}

/** Why a name that has no wallet does not become a user without being asked for. Null: it does. */
export function refusalOfUser(name: string): ApiError | null {
  if (hasControls(name)) return refusal("invalid_format", NO_CONTROLS);
  const message = refusalOfNewUser(name, "as the address, in place of `to_user`");
  return message === null ? null : refusal("not_a_user", message);
}

function refusal(code: string, message: string): ApiError {
  return new ApiError("validation_failed", [{ field: "to_user", code, message }]);
}

/** The fields that name who gets a token by address. */
export type AddressField = "to_address" | "initial_owner";

type Destination = { [F in AddressField | "to_user"]?: string | undefined };

/** What is wrong with the destination: exactly one of the two fields must be given. */
export function destinationErrors(fields: { [F in keyof Destination]?: unknown }, field: AddressField): FieldError[] {
  return eitherErrors(fields, field, "to_user");
}

/** What is wrong with two fields of which exactly one must be given: an address, or a user of the app. */
export function eitherErrors<F extends string>(
  fields: { [Name in F]?: unknown },
  address: NoInfer<F>,
  user: NoInfer<F>,
): FieldError[] {
  const byAddress = fields[address] !== undefined;
  if (byAddress !== (fields[user] !== undefined)) return [];
  const [code, message] = byAddress
    ? ["conflict", `Send either ${address} or ${user}, not both.`]
    : ["required", `Send ${address}, or ${user} for a user of the app.`];
  return [address, user].map((name) => ({ field: name, code, message }));
}

/**
 * Who gets the token, when the fields have no `destinationErrors`.
 * @throws ApiError for a name that does not become a user
 */
export function recipientAddress(recipients: Recipients, fields: Destination, field: AddressField): string {
  return fields[field] ?? recipientOf(recipients, fields.to_user ?? "").address;
}

/** The wallet to create together with the request. */
export function newWalletOf(recipients: Recipients, { to_user: user }: Destination): NewWallet | undefined {
  return user === undefined ? undefined : recipientOf(recipients, user).newWallet;
}

function recipientOf(recipients: Recipients, user: string): Recipient {
  const recipient = recipients.get(user);
  if (recipient === undefined) throw new Error("the wallet of a user was not looked up");
  if (recipient instanceof ApiError) throw recipient;
  return recipient;
}
