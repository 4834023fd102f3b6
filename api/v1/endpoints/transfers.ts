import { z } from "zod";

import { batchAnswer, singleAnswer } from "../../commands/accept-request.ts";
import { transfer } from "../../commands/transfer.ts";
import { BATCH_RULES, batchBody, batchResults, readItems } from "../batch.ts";
import { defineEndpoint, Verbatim } from "../endpoint.ts";
import { acceptedExample, ALICE, batchExample, BOB, COLLECTION } from "../examples.ts";
import { address, destination, integerForms, optional, quantity, reference, tokenId } from "../schemas/inputs.ts";
import { accepted } from "../schemas/outputs.ts";
import { none, noQuery } from "../schemas/params.ts";

export function transferNft() {
  return defineEndpoint({
    method: "post",
    path: "/transfers",
    summary: "Transfer a token out of a wallet",
    name: "transferNft",
    description:
      "The wallet signs and the service sends the transaction, so the wallet needs no gas. Works for any ERC721 or ERC1155 contract, not only the service's collections. The app follows the contract from then on.",
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
      },
      answer: acceptedExample,
    },
    scope: "transfer",
    params: none,
    query: noQuery,
    body: transferBody,
    response: accepted,
    idempotent: true,
    errors: [
      "quota_exceeded",
      "wallet_not_found",
      "contract_not_supported",
      "too_many_contracts",
      "token_not_found",
      "insufficient_balance",
      "token_busy",
      "not_transferable",
    ],
    handle: async (deps, call) => new Verbatim((await transfer(deps, call, [call.body], singleAnswer)).json),
  });
}

export function transferNfts() {
  return defineEndpoint({
    method: "post",
    path: "/transfers/batch",
    summary: "Transfer up to 1,000 tokens with one call",
    name: "transferNfts",
    description: BATCH_RULES,
    examples: {
      bodies: {
        "Two tokens": {
          items: [
            { from_address: ALICE, to_address: BOB, contract_address: COLLECTION, token_id: 12 },
            { from_address: ALICE, to_address: BOB, contract_address: COLLECTION, token_id: 13 },
          ],
        },
      },
      answer: batchExample("token_busy", "token_id"),
    },
    scope: "transfer",
    params: none,
    query: noQuery,
    body: batchBody("Transfer"),
    response: batchResults,
    idempotent: true,
    batch: true,
    handle: async (deps, call, exchange) => {
      const items = await readItems(deps, call, exchange, transferBody);
      const { json, retryAfter } = await transfer(deps, call, items, batchAnswer);
      return new Verbatim(json, retryAfter);
    },
  });
}

const transferBody = z
  .strictObject({
    from_address: address.meta({ description: "The wallet of the app that holds the token." }),
    to_address: destination.meta({ description: "Who gets the token: any address that can hold it." }),
    contract_address: address.meta({ description: "The contract of the token." }),
    token_id: tokenId.meta({ description: "The token." }),
    amount: z
      .preprocess((value) => (value === "" ? undefined : value), optional(quantity))
      .meta({
        description: "Number of copies. ERC721: blank or 1.",
        override: { anyOf: [...integerForms(1), { type: "string", maxLength: 0 }, { type: "null" }] },
      }),
    reference,
  })
  .meta({ id: "Transfer" });
