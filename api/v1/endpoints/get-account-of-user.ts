import { findWalletOfUser } from "../../store/apps/wallets.ts";
import { defineEndpoint } from "../endpoint.ts";
import { walletExample } from "../examples.ts";
import { found } from "../present/not-found.ts";
import { presentWallet } from "../present/wallet.ts";
import { account } from "../schemas/accounts.ts";
import { noQuery, userParams } from "../schemas/params.ts";

export function getAccountOfUser() {
  return defineEndpoint({
    method: "get",
    path: "/accounts/user/:user_identifier",
    summary: "Show the wallet of a user",
    name: "getAccountOfUser",
    description: "Escape the identifier in the path (percent-encoding).",
    examples: { answer: walletExample },
    scope: "read",
    params: userParams,
    query: noQuery,
    response: account,
    errors: ["not_found"],
    handle: async ({ database }, { appId, params }) =>
      presentWallet(found(await findWalletOfUser(database.read, appId, params.user_identifier))),
  });
}
