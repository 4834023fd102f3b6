import { createWallet } from "../../commands/create-wallet.ts";
import type { Limits } from "../../config/limits.ts";
import { defineEndpoint, Verbatim } from "../endpoint.ts";
import { walletExample } from "../examples.ts";
import { account, createAccountBody } from "../schemas/accounts.ts";
import { none, noQuery } from "../schemas/params.ts";

export function createAccount(limits: Limits) {
  return defineEndpoint({
    method: "post",
    path: "/accounts",
    summary: "Create a wallet",
    name: "createAccount",
    description:
      "The same user of the same app always gets the same address. The wallet exists at once, without a transaction.",
    examples: {
      bodies: { "For a user": { user_identifier: "alice" }, "Without a user": {} },
      answer: walletExample,
    },
    scope: "accounts",
    params: none,
    query: noQuery,
    body: createAccountBody(limits),
    response: account,
    idempotent: true,
    errors: ["user_identifier_taken", "quota_exceeded"],
    handle: async (deps, call) => new Verbatim(await createWallet(deps, call, call.body.user_identifier ?? null)),
  });
}
