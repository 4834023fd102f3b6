import { z } from "zod";

import { eitherErrors } from "../../commands/recipients.ts";
import { transfer } from "../../commands/transfer.ts";
import { batchOf } from "../batch.ts";
import { defineEndpoint, Verbatim } from "../endpoint.ts";
import { acceptedExample, ALICE, BOB, COLLECTION, REFERENCE } from "../examples.ts";
import {
  address,
  destination,
  integerForms,
  optional,
  quantity,
  reference,
  refuse,
  tokenId,
  toUser,
  userIdentifier,
} from "../schemas/inputs.ts";
import { accepted } from "../schemas/outputs.ts";
import { requireScopeFor } from "../by-user.ts";

/** The fields that name copies of a token in a wallet of the app. */
export const tokenOfWallet = {
  from_address: optional(address).describe("The wallet of the app that holds the token."),
  from_user: optional(userIdentifier).describe(
    "In place of `from_address`: the app's own name for the user whose wallet holds the token.",
  ),
  contract_address: address.describe("The contract of the token."),
  token_id: tokenId.describe("The token."),
  amount: z
    .preprocess((value) => (value === "" ? undefined : value), optional(quantity))
    .meta({
      description: "Number of copies. ERC721: blank or 1.",
      override: { anyOf: [...integerForms(1), { type: "string", maxLength: 0 }, { type: "null" }] },
    }),
  reference,
};

const transferBody = z
  .strictObject({
    ...tokenOfWallet,
    to_address: optional(destination).describe("Who gets the token: any address that can hold it."),
    to_user: toUser("`to_address`"),
  })
  .check(eitherOf("from_address", "from_user"))
  .check(eitherOf("to_address", "to_user"))
  .meta({ id: "Transfer" });

const transferNft = defineEndpoint({
  method: "post",
  path: "/transfers",
  summary: "Transfer a token out of a wallet",
  name: "transferNft",
  description:
    "The wallet signs and the service sends the transaction, so the wallet needs no gas. Works for any ERC721 or ERC1155 contract, not only the service's collections. The app follows the contract from then on. A transfer to the same wallet is accepted like any other: it costs gas, appears in the histories and leaves the holding as it is.",
  examples: {
    bodies: {
      ERC721: { from_address: ALICE, to_address: BOB, contract_address: COLLECTION, token_id: 12 },
      "ERC1155, three copies": {
        from_address: ALICE,
        to_address: BOB,
        contract_address: COLLECTION,
        token_id: 7,
        amount: 3,
      },
      "From a user to a user": {
        from_user: "alice",
        to_user: "bob",
        contract_address: COLLECTION,
        token_id: 12,
        reference: REFERENCE,
      },
    },
    answer: acceptedExample,
  },
  scope: "transfer",
  body: transferBody,
  response: accepted,
  idempotent: true,
  errors: [
    "quota_exceeded",
    "wallet_not_found",
    "wallet_watch_only",
    "contract_not_supported",
    "not_supported_by_chain",
    "too_many_contracts",
    "token_not_found",
    "insufficient_balance",
    "token_busy",
    "not_transferable",
  ],
  handle: async (deps, call) => {
    requireScopeFor(call, call.body);
    return new Verbatim((await transfer(deps, call, [call.body], false)).json);
  },
});

export const TRANSFERS = [
  transferNft,
  batchOf(transferNft, transferBody, {
    name: "transferNfts",
    summary: "Transfer up to 1,000 tokens with one call",
    title: "Two tokens",
    items: [
      { from_address: ALICE, to_address: BOB, contract_address: COLLECTION, token_id: 12 },
      { from_address: ALICE, to_address: BOB, contract_address: COLLECTION, token_id: 13 },
    ],
    refused: { code: "token_busy", field: "token_id" },
    accept: transfer,
  }),
];

/**
 * Requires exactly one of the two fields. Runs also when other fields are wrong, so that the answer names all wrong fields.
 * @param address the field with an address. @param user the field with a user of the app.
 */
export function eitherOf(address: string, user: string) {
  const check = z.check<object>(({ value, issues }) => {
    const isWrong = issues.some(({ path }) => path?.[0] === address || path?.[0] === user);
    if (isWrong) return;
    for (const { field, code, message } of eitherErrors<string>(value, address, user)) {
      refuse({ value, issues }, code, message, [field]);
    }
  });
  check._zod.def.when = ({ value }) => typeof value === "object" && value !== null && !Array.isArray(value);
  return check;
}
