import { answerOf } from "../../client/client.ts";
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

/** Who gets a token may be typed as the user identifier of a wallet. @param names of the fields */
export async function withReceivers(values: Values, names: readonly string[]): Promise<Values | Problem[]> {
  const found: Values = { ...values };
  const problems: Problem[] = [];
  for (const name of names) {
    const typed = values[name];
    if (typeof typed !== "string" || typed.trim() === "" || /^0x/i.test(typed.trim())) continue;
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
