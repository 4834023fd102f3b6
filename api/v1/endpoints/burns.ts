import { z } from "zod";

import { burn } from "../../commands/transfer.ts";
import { batchOf } from "../batch.ts";
import { defineEndpoint, Verbatim } from "../endpoint.ts";
import { acceptedExample, ALICE, COLLECTION, REFERENCE } from "../examples.ts";
import { accepted } from "../schemas/outputs.ts";
import { eitherOf, tokenOfWallet } from "./transfers.ts";

const burnBody = z.strictObject(tokenOfWallet).check(eitherOf("from_address", "from_user")).meta({ id: "Burn" });

const burnNft = defineEndpoint({
  method: "post",
  path: "/burns",
  summary: "Burn a token of a wallet",
  name: "burnNft",
  description:
    "Destroys the token, or copies of it. This cannot be undone. The id of an ERC721 token is never minted again, and a supply cap still counts the token. An ERC1155 id stays, also without copies: more copies of it can be minted. The wallet signs and the service sends the transaction, so the wallet needs no gas. Soulbound tokens can be burnt, too. Tokens of contracts of others can be burnt if their contract has `burn(uint256)` (ERC721) or `burn(address,uint256,uint256)` (ERC1155), and if the chain has delegation (EIP-7702). The app follows such a contract from then on.",
  examples: {
    bodies: {
      ERC721: { from_address: ALICE, contract_address: COLLECTION, token_id: 12 },
      "ERC1155, three copies": {
        from_address: ALICE,
        contract_address: COLLECTION,
        token_id: 7,
        amount: 3,
        reference: REFERENCE,
      },
    },
    answer: acceptedExample,
  },
  scope: "transfer",
  body: burnBody,
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
  ],
  handle: async (deps, call) => new Verbatim((await burn(deps, call, [call.body], false)).json),
});

export const BURNS = [
  burnNft,
  batchOf(burnNft, burnBody, {
    name: "burnNfts",
    summary: "Burn up to 1,000 tokens with one call",
    title: "Two tokens",
    items: [
      { from_address: ALICE, contract_address: COLLECTION, token_id: 12 },
      { from_address: ALICE, contract_address: COLLECTION, token_id: 13 },
    ],
    refused: { code: "token_busy", field: "token_id" },
    accept: burn,
  }),
];
