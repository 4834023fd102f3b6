import { z } from "zod";

import { adoptCollection, textToSign } from "../../commands/adopt-collection.ts";
import { defineEndpoint } from "../endpoint.ts";
import { adoptedExample, adoptionTextExample, COLLECTION } from "../examples.ts";
import { placeOf, presentCollection } from "../present.ts";
import { collection } from "../schemas/collections.ts";
import { address, count, optional } from "../schemas/inputs.ts";
import { MAX_SIGNATURE_BYTES } from "../../config/limits.ts";

const contract = address.describe("An ERC721 or ERC1155 contract that another party deployed, in any case.");
function hex(bytes: string) {
  return z.string().regex(new RegExp(`^0x(?:[0-9a-fA-F]{2}){${bytes}}$`));
}

const typedText = z
  .object({
    types: z.record(z.string(), z.unknown()).describe("The types, by name."),
    primaryType: z.string().describe("The type of the message."),
    domain: z.record(z.string(), z.unknown()).describe("The chain, and the relay of this service."),
    message: z.record(z.string(), z.unknown()).describe("The contract, the app, the relay, the nonce and the expiry."),
  })
  .meta({ id: "TypedText", description: "The text to sign, as `eth_signTypedData_v4` takes it (EIP-712)." });

const adoptionText = defineEndpoint({
  method: "post",
  path: "/collections/adopt/text",
  summary: "Make the text with which a contract's owner lets the app adopt it",
  name: "makeAdoptionText",
  description:
    "The text names the chain, the contract, the app, the relay, a nonce and when it expires: a week from now. Nothing is stored. Let the contract's `owner()`, or an account with its role DEFAULT_ADMIN_ROLE, sign it, and send the signature to `POST /v1/collections/adopt`.",
  examples: { bodies: { "A contract": { address: COLLECTION } }, answer: adoptionTextExample },
  scope: "collections",
  body: z.strictObject({ address: contract }).meta({ id: "AdoptionText" }),
  response: typedText,
  errors: ["contract_not_supported"],
  handle: (deps, { appId, body }) =>
    Promise.resolve(textToSign(deps, appId, body.address) as z.input<typeof typedText>),
});

const adopt = defineEndpoint({
  method: "post",
  path: "/collections/adopt",
  summary: "Adopt a contract that another party deployed",
  name: "adoptCollection",
  description:
    "The contract becomes a collection of the app. All its tokens, holders and history are read from the chain; `adopted` in the collection shows how far this has come. The app's wallets can transfer and burn its tokens. The service cannot mint into it. What is read back makes no events, and is in the histories of only those wallets whose app followed the contract at that time. One app can adopt a contract. A repeated call answers the collection.",
  examples: {
    bodies: {
      "With the owner's signature": {
        address: COLLECTION,
        nonce: adoptionTextExample.message.nonce,
        expiry: Number(adoptionTextExample.message.expiry),
        signature: `0x${"1b".repeat(65)}`,
      },
    },
    answer: adoptedExample,
  },
  scope: "collections",
  body: z
    .strictObject({
      address: contract,
      nonce: hex("32").describe("`message.nonce` of the text."),
      expiry: count(Number.MAX_SAFE_INTEGER, 1).describe("`message.expiry` of the text, in seconds since 1970."),
      signature: hex(`1,${MAX_SIGNATURE_BYTES.toString()}`).describe(
        "The signature of the text. Of an account with code: what its `isValidSignature` takes (ERC-1271).",
      ),
      signer: optional(address).describe("Who has signed it. Default: the contract's `owner()`."),
      from_block: optional(count(Number.MAX_SAFE_INTEGER)).describe(
        "No earlier block has events of the contract. By default the node is asked when the contract was deployed; a node without old states cannot tell, and then all blocks are searched.",
      ),
    })
    .meta({ id: "AdoptCollection" }),
  response: collection,
  runsForeignCode: true,
  errors: ["contract_not_supported", "adoption_not_permitted", "too_many_contracts"],
  handle: async (deps, { appId, body }) => {
    const { address: named, from_block: fromBlock = null, nonce, expiry, signature, signer = null } = body;
    const order = { address: named, fromBlock };
    return presentCollection(
      placeOf(deps),
      await adoptCollection(deps, appId, order, { nonce, expiry, signature, signer }),
    );
  },
});

export const ADOPTIONS = [adoptionText, adopt];
