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
    domain: z.record(z.string(), z.unknown()).describe("The chain and the relay."),
    message: z.record(z.string(), z.unknown()).describe("Contract, app, relay, nonce and expiry."),
  })
  .meta({ id: "TypedText", description: "The text to sign, as `eth_signTypedData_v4` takes it (EIP-712)." });

const adoptionText = defineEndpoint({
  method: "post",
  path: "/collections/adopt/text",
  summary: "Make the text with which a contract's owner lets the app adopt it",
  name: "makeAdoptionText",
  description:
    "Nothing is stored. The contract's `owner()`, or an account with its role DEFAULT_ADMIN_ROLE, signs the text within a week. The signature goes to `POST /v1/collections/adopt`.",
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
    "The contract becomes a collection of the app: its tokens, holders and history are read from the chain, and `adopted` shows how far. The app's wallets can transfer and burn its tokens; the service cannot mint. What is read back makes no events. One app can adopt a contract.",
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
        "The signature of the text, also of an account with code (ERC-1271).",
      ),
      signer: optional(address).describe("Who has signed it. Default: the contract's `owner()`."),
      from_block: optional(count(Number.MAX_SAFE_INTEGER)).describe(
        "No earlier block has events of the contract. Default: the block of its deployment, if the node knows it.",
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
