import { mint } from "../../commands/mint.ts";
import { batchOf } from "../batch.ts";
import { defineEndpoint, Verbatim } from "../endpoint.ts";
import { acceptedExample, ALICE, BOB, COLLECTION, REFERENCE } from "../examples.ts";
import { mintBody } from "../schemas/nfts.ts";
import { accepted } from "../schemas/outputs.ts";
import { requireScopeFor } from "../by-user.ts";

const mintNft = defineEndpoint({
  method: "post",
  path: "/nfts",
  summary: "Mint a token, or more copies of one",
  name: "mintNft",
  description:
    "The collection's type and hosting decide which fields apply. ERC721: `to_address`. ERC1155: `token_id` with `initial_supply` and `initial_owner` for a new id, or with `quantity` and `to_address` for more copies. `to_user` names a user of the app in place of the address. Only hosted collections take metadata fields and `unlockable_content`.",
  examples: {
    bodies: {
      "ERC721, hosted": {
        collection_address: COLLECTION,
        to_address: ALICE,
        name: "Cat {token_id}",
        image: "https://cats.example/red.png",
        attributes: [{ trait_type: "fur", value: "red" }],
        unlockable_content: "The cat sleeps in the attic.",
      },
      "ERC721, self-hosted": { collection_address: COLLECTION, to_address: ALICE },
      "ERC721, to a user": { collection_address: COLLECTION, to_user: "alice", reference: REFERENCE },
      "ERC1155, a new id": {
        collection_address: COLLECTION,
        token_id: 7,
        initial_supply: 10,
        initial_owner: ALICE,
        name: "Gem {token_id}",
      },
      "ERC1155, more copies": { collection_address: COLLECTION, token_id: 7, quantity: "5", to_address: BOB },
    },
    answer: acceptedExample,
  },
  scope: "mint",
  body: mintBody,
  response: accepted,
  idempotent: true,
  errors: [
    "quota_exceeded",
    "collection_not_found",
    "wrong_collection_type",
    "wrong_hosting",
    "service_cannot_mint",
    "metadata_frozen",
    "supply_exceeded",
    "token_already_exists",
    "token_not_found",
  ],
  handle: async (deps, call) => {
    requireScopeFor(call, call.body);
    return new Verbatim((await mint(deps, call, [call.body], false)).json);
  },
});

export const MINTS = [
  mintNft,
  batchOf(mintNft, mintBody, {
    name: "mintNfts",
    summary: "Mint up to 1,000 tokens with one call",
    title: "Two tokens of a hosted ERC721 collection",
    items: [
      { collection_address: COLLECTION, to_address: ALICE, name: "Cat {token_id}" },
      { collection_address: COLLECTION, to_address: BOB, name: "Cat {token_id}" },
    ],
    refused: { code: "supply_exceeded", field: "collection_address" },
    accept: mint,
  }),
];
