import type { ArrivingToken, Receiver } from "../chain/receivers.ts";
import { ApiError } from "../domain/error-codes.ts";
import { findForeignContracts } from "../store/ledger/follow.ts";
import type { CommandContext } from "./context.ts";
import { orError } from "./or-error.ts";
import { refusalOfUser } from "./recipients.ts";
import { refuseRelay } from "./refuse-relay.ts";

export const RECEIVER_KINDS = [
  "wallet",
  "new_user",
  "account",
  "contract",
  "delegated_account",
  "refused",
  "unknown",
] as const;

/** Who would get a token: by address, or a user of the app; or why the name cannot be either. */
export type NamedReceiver = { address: string } | { user: string } | { refused: string };

export interface CheckedReceiver {
  kind: (typeof RECEIVER_KINDS)[number];
  address: string | null;
  user: string | null;
  /** The contract whose code the account runs (EIP-7702). */
  delegate: string | null;
  /** null: nothing is known. */
  accepts: boolean | null;
  /** Why it does not accept, or why nothing is known. */
  message: string | null;
}

const NOTHING = { address: null, user: null, delegate: null, accepts: null, message: null } as const;
const NOT_KNOWN =
  "The service's node could not tell, or not in time, so nothing is known about this receiver. Check it again later.";

/**
 * What receivers are, and whether they accept a token of a contract, in their order. Only addresses that are not wallets of the app,
 * and its watch-only wallets, which may have code, are asked for at the node: all together, whoever else they belong to.
 * @throws ApiError `not_found` when the app neither owns nor follows the contract
 */
export async function checkReceivers(
  context: CommandContext,
  appId: string,
  contract: string,
  named: readonly NamedReceiver[],
): Promise<CheckedReceiver[]> {
  const token = await arrivingToken(context, appId, contract);
  const users = named.flatMap((one) => ("user" in one ? one.user : []));
  const addresses = [...new Set(named.flatMap((one) => ("address" in one ? one.address : [])))];
  const [ofUsers, wallets] = await Promise.all([
    context.lookUps.walletsOfUsers(users.map((userIdentifier) => ({ appId, userIdentifier }))),
    context.lookUps.wallets(addresses.map((address) => ({ appId, address }))),
  ]);
  const known = new Map([...ofUsers, ...wallets].flatMap((one) => (one === undefined ? [] : [[one.address, one]])));
  const others = [...new Set([...addresses, ...known.keys()])].filter(
    (address) => known.get(address)?.watch_only !== 0 && address !== context.relay,
  );
  const abort = AbortSignal.timeout(context.settings.limits.simulationSeconds * 1_000);
  const read = others.length === 0 ? [] : await context.receivers.read(token, others, abort);
  const found = new Map<string, CheckedReceiver>();
  for (const wallet of known.values()) found.set(wallet.address, ofWallet(wallet));
  for (const [index, address] of others.entries())
    found.set(address, { ...ofChain(address, token, read[index]), user: found.get(address)?.user ?? null });
  const byUser = new Map(users.map((user, index) => [user, ofUsers[index]?.address]));
  return named.map((one) => {
    if ("refused" in one) return refused(one.refused);
    if ("address" in one) return found.get(one.address) ?? ofRelay(context.relay, one.address);
    return found.get(byUser.get(one.user) ?? "") ?? ofNewUser(one.user);
  });
}

/** The next token of an own collection. Ids of ERC1155 are the app's choice. */
async function arrivingToken(
  { lookUps, database }: CommandContext,
  appId: string,
  contract: string,
): Promise<ArrivingToken> {
  const [collection] = await lookUps.collections([{ appId, address: contract }]);
  if (collection !== undefined) {
    const { type, minted } = collection;
    return { contract, type, tokenId: type === "ERC721" ? BigInt(minted) + 1n : 1n };
  }
  const foreign = (await findForeignContracts(database.read, appId, [contract])).get(contract);
  if (foreign?.followed === true && foreign.type !== null) return { contract, type: foreign.type, tokenId: 1n };
  const message = "This app has no collection at this address, and does not follow a contract there.";
  throw new ApiError("not_found", [{ field: "contract_address", code: "not_found", message }]);
}

function ofWallet(wallet: { address: string; user_identifier: string | null }): CheckedReceiver {
  const { address, user_identifier: user } = wallet;
  return { ...NOTHING, kind: "wallet", address, user, accepts: true };
}

function ofNewUser(user: string): CheckedReceiver {
  const refusal = refusalOfUser(user);
  if (refusal !== null) return { ...refused(messageOf(refusal)), user };
  return { ...NOTHING, kind: "new_user", user, accepts: true };
}

function ofRelay(relay: string, address: string): CheckedReceiver {
  const refusal = orError(() => {
    refuseRelay(relay, [["address", address]]);
    return null;
  });
  if (refusal === null) throw new Error("a receiver was not checked");
  return { ...refused(messageOf(refusal)), address };
}

function refused(message: string): CheckedReceiver {
  return { ...NOTHING, kind: "refused", accepts: false, message };
}

function messageOf({ errors, message }: ApiError): string {
  return errors?.[0]?.message ?? message;
}

function ofChain(address: string, { type }: ArrivingToken, receiver: Receiver | undefined): CheckedReceiver {
  if (receiver === undefined) throw new Error("a receiver was not read");
  const { is: kind, delegate, accepts, reason } = receiver;
  const common = { ...NOTHING, kind, address, delegate, accepts };
  if (accepts === null) return { ...common, message: NOT_KNOWN };
  if (accepts) return common;
  const what =
    delegate === null
      ? `The contract does not accept ${type} tokens.`
      : `The account runs the code of its delegate ${delegate} (EIP-7702), which does not accept ${type} tokens.`;
  return { ...common, message: `${what} ${reason ?? ""}`.trim() };
}
