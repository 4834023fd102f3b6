import { answerOf, type Shape } from "../../client/client.ts";
import { ApiRefusal } from "../../client/errors.ts";
import { client } from "../service/client.ts";
import type { Problem } from "../forms/model/check.ts";
import type { Values } from "../forms/model/values.ts";

const NOT_FOUND = 404;

/** The address of a user's wallet; null when the app has none for this user. */
export async function walletOf(user: string): Promise<string | null> {
  const path = { user_identifier: user };
  try {
    const get = client().GET("/v1/accounts/user/{user_identifier}", { params: { path } });
    return (await answerOf(get)).address;
  } catch (error) {
    if (error instanceof ApiRefusal && error.status === NOT_FOUND) return null;
    throw error;
  }
}

/** What a typed receiver is, and whether a token of the contract can arrive there. Null: it cannot be checked. */
export async function readReceiver(contract: string, typed: string): Promise<Shape<"CheckedReceiver"> | null> {
  const list = isAddress(typed) ? { addresses: [typed] } : { users: [typed] };
  const { data } = await client().POST("/v1/receivers/check", { body: { contract_address: contract, ...list } });
  return data?.receivers[0] ?? null;
}

/** The same for the addresses of files. Wrong checksums are a matter of the mint. */
export async function readReceivers(contract: string, some: readonly string[]): Promise<Shape<"CheckedReceiver">[]> {
  const body = { contract_address: contract, addresses: some.map((address) => address.toLowerCase()) };
  return (await answerOf(client().POST("/v1/receivers/check", { body }))).receivers;
}

export function isAddress(typed: string): boolean {
  return /^0x/i.test(typed);
}

/** Receivers that a person was warned of. */
const warned = new Set<string>();

/** Why a token may not arrive, the first time that somebody sends one there. */
async function warningOf(contract: string, address: string): Promise<string | null> {
  const name = `${contract} ${address}`;
  if (warned.has(name)) return null;
  // The service checks again before it sends, so a check that fails keeps nobody from sending.
  const receiver = await readReceiver(contract, address).catch(() => null);
  // What the service refuses in any case, it says itself.
  if (receiver?.accepts !== false || receiver.kind === "refused") return null;
  warned.add(name);
  return `${(receiver.message ?? "").replaceAll("`", "")} To try it nevertheless, press the button again.`;
}

/**
 * Who gets a token may be typed as the user identifier of a wallet. A receiver that does not accept the token is a problem once.
 * @param names of the fields
 */
export async function withReceivers(
  values: Values,
  names: readonly string[],
  contract: string,
): Promise<Values | Problem[]> {
  const found: Values = { ...values };
  const problems: Problem[] = [];
  for (const name of names) {
    const typed = values[name];
    if (typeof typed !== "string" || typed.trim() === "") continue;
    if (isAddress(typed.trim())) {
      const message = await warningOf(contract, typed.trim());
      if (message !== null) problems.push({ field: name, message });
      continue;
    }
    const address = await walletOf(typed.trim());
    if (address === null) {
      const message = "No wallet of the app has this user identifier. Type an address, or create the wallet first.";
      problems.push({ field: name, message });
    } else {
      found[name] = address;
    }
  }
  return problems.length > 0 ? problems : found;
}

export const RECEIVER_HELP = "An address, or the user identifier of a wallet of the app.";
